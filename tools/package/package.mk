# SPDX-License-Identifier: BSD-2-Clause
# Installation and packages.

# ---- packages -----------------------------------------------------------------------------------
.PHONY: static deb image rpm-check check-packages
static:
	$(Q)$(MAKE) STATIC=1 O=$(O)/static $(O)/static/dial9-prof

deb:
	$(Q)sh tools/package/deb.sh $(O)/deb

image: static
	$(Q)sh tools/package/container/image.sh $(O)/static/dial9-prof $(O)/dial9-prof.oci.tar

rpm-check:
	$(Q)$(TEST_ENV) sh tests/run-packages.sh rpm

PACKAGES := static deb image
check-packages: $(PACKAGES)
	$(Q)$(TEST_ENV) CC=$(CC) sh tests/run-packages.sh $(PACKAGES) rpm

# ---- installation -------------------------------------------------------------------------------
.PHONY: install uninstall
D := $(DESTDIR)
define PC
prefix=$(prefix)
libdir=$(libdir)
includedir=$(incdir)

Name: libdial9
Description: Codec for dial9 traces
Version: $(VERSION)
Libs: -L$${libdir} -ldial9
Cflags: -I$${includedir}
endef
export PC
MANS := $(wildcard tools/man/*.[1-8])
UNITS := $(wildcard tools/package/systemd/*.service)

install: all
	$(INSTALL) -d $(D)$(bindir) $(D)$(libdir)/pkgconfig $(D)$(incdir) $(D)$(datadir)/dial9-prof $(D)$(docdir) \
		$(addprefix $(D)$(mandir)/man,$(patsubst .%,%,$(sort $(suffix $(MANS))))) \
		$(D)$(datadir)/bash-completion/completions $(D)$(datadir)/zsh/site-functions \
		$(D)$(datadir)/fish/vendor_completions.d $(if $(UNITS),$(D)$(unitdir))
	$(INSTALL) -m 755 $(PROGRAM) $(D)$(bindir)/dial9-prof
	$(INSTALL) -m 644 include/dial9.h include/dial9_event.h $(D)$(incdir)/
	$(INSTALL) -m 644 $(LIB_A) $(D)$(libdir)/libdial9.a
	$(INSTALL) -m 755 $(LIB_SO) $(D)$(libdir)/libdial9.so.$(VERSION)
	ln -sf libdial9.so.$(VERSION) $(D)$(libdir)/libdial9.so.$(SOVER)
	ln -sf libdial9.so.$(SOVER) $(D)$(libdir)/libdial9.so
	printf '%s\n' "$$PC" > $(D)$(libdir)/pkgconfig/libdial9.pc
	$(INSTALL) -m 644 user/web/read/decode.js $(D)$(datadir)/dial9-prof/
	$(INSTALL) -m 644 user/libdial9/FORMAT.md $(D)$(docdir)/
	$(foreach m,$(MANS),$(INSTALL) -m 644 $(m) $(D)$(mandir)/man$(patsubst .%,%,$(suffix $(m)))/ &&) :
	$(INSTALL) -m 644 tools/completion/dial9-prof.bash \
		$(D)$(datadir)/bash-completion/completions/dial9-prof
	$(INSTALL) -m 644 tools/completion/_dial9-prof $(D)$(datadir)/zsh/site-functions/
	$(INSTALL) -m 644 tools/completion/dial9-prof.fish $(D)$(datadir)/fish/vendor_completions.d/
	$(foreach u,$(UNITS),sed 's,/usr/bin/dial9-prof,$(bindir)/dial9-prof,' $(u) > $(D)$(unitdir)/$(notdir $(u)) && \
		chmod 644 $(D)$(unitdir)/$(notdir $(u)) &&) :

uninstall:
	rm -f $(D)$(bindir)/dial9-prof $(D)$(incdir)/dial9.h $(D)$(incdir)/dial9_event.h $(D)$(libdir)/libdial9.a \
		$(addprefix $(D)$(libdir)/libdial9.so,.$(VERSION) .$(SOVER)) $(D)$(libdir)/libdial9.so \
		$(D)$(libdir)/pkgconfig/libdial9.pc \
		$(foreach m,$(MANS),$(D)$(mandir)/man$(patsubst .%,%,$(suffix $(m)))/$(notdir $(m))) \
		$(D)$(datadir)/dial9-prof/decode.js $(D)$(docdir)/FORMAT.md \
		$(D)$(datadir)/bash-completion/completions/dial9-prof \
		$(D)$(datadir)/zsh/site-functions/_dial9-prof \
		$(D)$(datadir)/fish/vendor_completions.d/dial9-prof.fish \
		$(addprefix $(D)$(unitdir)/,$(notdir $(UNITS)))
	rmdir $(D)$(datadir)/dial9-prof $(D)$(docdir) 2>/dev/null || :

