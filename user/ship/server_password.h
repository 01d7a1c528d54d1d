/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_SERVER_PASSWORD_H
#define D9_SHIP_SERVER_PASSWORD_H

#include <stddef.h>

struct http_url;

#define SERVER_PASSWORD_VARIABLE "DIAL9_SHIP_PASSWORD"

/*
 * The first line of a file; without @path the environment variable. *@out NULL: none. Free with server_password_free(). 0,
 * or -errno after one line that begins with @command.
 */
int server_password_read(const char *command, const char *path, char **out);
void server_password_free(char *password);
/* Prints one line, which begins with @command, if a password goes to a server without encryption. */
void server_password_warn(const char *command, const char *password, const struct http_url *urls,
			  size_t cnt);

#endif /* D9_SHIP_SERVER_PASSWORD_H */
