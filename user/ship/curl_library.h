/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef D9_SHIP_CURL_LIBRARY_H
#define D9_SHIP_CURL_LIBRARY_H

#include <curl/curl.h>

/* Functions of libcurl, as in its manual pages. */
struct curl_library {
	void *handle;
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *curl);
	CURLcode (*easy_setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *curl, CURLINFO info, ...);
	CURLcode (*easy_perform)(CURL *curl);
	char *(*easy_escape)(CURL *curl, const char *text, int len);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
	void (*free)(void *p);
	CURLU *(*url)(void);
	void (*url_cleanup)(CURLU *url);
	CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
	CURLUcode (*url_get)(const CURLU *url, CURLUPart part, char **text, unsigned int flags);
};

/*
 * Loads libcurl: the other commands start three times as fast without it and the 25 libraries that it needs. 0, or -ENOSYS
 * after one line. Free with curl_library_close().
 */
int curl_library_open(struct curl_library *out);
void curl_library_close(struct curl_library *lib);

#endif /* D9_SHIP_CURL_LIBRARY_H */
