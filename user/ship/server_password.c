// SPDX-License-Identifier: BSD-2-Clause
/* Where the password of a server comes from: never the command line, which other users see. Owns its memory. */
#include "ship/server_password.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "ship/http_client.h"

#define PASSWORD_MAX 4096

int server_password_read(const char *command, const char *path, char **out)
{
	const char *value = path ? NULL : getenv(SERVER_PASSWORD_VARIABLE);
	struct buf text = { 0 };
	int err;

	*out = value ? xstrdup(value) : NULL;
	if (!path)
		return 0;
	err = file_read(AT_FDCWD, path, PASSWORD_MAX, &text);
	if (err)
		log_error("%s: cannot read %s: %s", command, path, strerror(-err));
	else
		*out = xstrndup(buf_cstr(&text), strcspn(buf_cstr(&text), "\r\n"));
	if (text.len)
		explicit_bzero(text.data, text.len);
	buf_free(&text);
	return err;
}

void server_password_free(char *password)
{
	if (password)
		explicit_bzero(password, strlen(password));
	free(password);
}

void server_password_warn(const char *command, const char *password, const struct http_url *urls,
			  size_t cnt)
{
	for (size_t i = 0; password && i < cnt; i++)
		if (!urls[i].tls) {
			log_warn("%s: the password is sent without encryption; use https", command);
			return;
		}
}
