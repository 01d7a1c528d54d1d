// SPDX-License-Identifier: BSD-2-Clause
/* memfd PROGRAM ARGS...: executes that program from a memfd, which has no path. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int in = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int out = memfd_create("program", MFD_CLOEXEC);
	struct stat st;
	off_t at = 0;

	if (in < 0 || out < 0 || fstat(in, &st))
		return 2;
	while (at < st.st_size)
		if (sendfile(out, in, &at, (size_t)(st.st_size - at)) <= 0)
			return 2;
	fexecve(out, argv + 1, environ);
	return 2;
}
