// SPDX-License-Identifier: BSD-2-Clause
/* Loads libcurl at run time. Owns the names of its functions. */
#include "ship/curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"

#define LIBRARY "libcurl.so.4"

#define F(m, name)                                                                                 \
	{                                                                                          \
		name, offsetof(struct curl_library, m)                                             \
	}

static const struct {
	const char *name;
	size_t off;
} functions[] = {
	F(easy_init, "curl_easy_init"),
	F(easy_cleanup, "curl_easy_cleanup"),
	F(easy_setopt, "curl_easy_setopt"),
	F(easy_getinfo, "curl_easy_getinfo"),
	F(easy_perform, "curl_easy_perform"),
	F(easy_escape, "curl_easy_escape"),
	F(easy_strerror, "curl_easy_strerror"),
	F(slist_append, "curl_slist_append"),
	F(slist_free_all, "curl_slist_free_all"),
	F(free, "curl_free"),
	F(url, "curl_url"),
	F(url_cleanup, "curl_url_cleanup"),
	F(url_set, "curl_url_set"),
	F(url_get, "curl_url_get"),
};

static void *open_library(void)
{
#ifdef PROF_STATIC
	return NULL; /* a static program cannot load libraries */
#else
	return dlopen(LIBRARY, RTLD_NOW);
#endif
}

int curl_library_open(struct curl_library *out)
{
	*out = (struct curl_library){ .handle = open_library() };
	if (!out->handle) {
		log_error("cannot load " LIBRARY "; install libcurl (Debian: libcurl4); "
			  "the static program cannot use it");
		return -ENOSYS;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(out->handle, functions[i].name);

		if (!found) {
			log_error(LIBRARY " is too old: 7.85 or later is needed");
			curl_library_close(out);
			return -ENOSYS;
		}
		/* ISO C cannot convert an object pointer to a function pointer */
		memcpy((char *)out + functions[i].off, &found, sizeof(found));
	}
	return 0;
}

void curl_library_close(struct curl_library *lib)
{
	if (lib->handle)
		dlclose(lib->handle);
	*lib = (struct curl_library){ 0 };
}
