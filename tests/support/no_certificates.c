// SPDX-License-Identifier: BSD-2-Clause
/*
 * no_certificates.c - keeps criterion from reading certificates
 *
 * Criterion's library depends on libgit2, which parses all certificates of the machine when it is loaded: a third of
 * the CPU time of most tests, each of which is a process. No test uses TLS, so this function replaces the parser of
 * the library. Without libgit2 it is never called.
 */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);

__attribute__((visibility("default"))) int mbedtls_x509_crt_parse_file(void *chain,
								       const char *path)
{
	return 0;
}
