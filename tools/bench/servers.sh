# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Servers at Unix sockets below $dir, which pairs.sh and peers.sh record. Sourced with $dir set; the functions that
# serve replace the shell.

: "${dir:?}"
PATH=$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin)

write_nginx_conf() {
	cat >"$dir/nginx.conf" <<-NGINX
		daemon off; master_process off; pid $dir/nginx.pid;
		events { }
		http {
			access_log off; client_body_temp_path $dir; proxy_temp_path $dir;
			fastcgi_temp_path $dir; uwsgi_temp_path $dir; scgi_temp_path $dir;
			gzip on; gzip_types *; keepalive_requests 1000000;
			server { listen unix:$dir/nginx; location / { return 200 "$(seq 500 | tr '\n' ' ')"; } }
		}
	NGINX
}

write_database() {
	chmod 711 "$dir"
	install -d -o nobody -m 700 "$dir/database"
	runuser -u nobody -- initdb -D "$dir/database" -A trust -U nobody
}

fill_database() { runuser -u nobody -- pgbench -h "$dir/database" -i -q -s 5 postgres; }

serve_nginx() { exec nginx -p "$dir/" -c "$dir/nginx.conf" -e stderr; }
serve_redis() { exec redis-server --port 0 --unixsocket "$dir/redis" --save ''; }
serve_postgres() {
	exec setpriv --reuid nobody --clear-groups postgres -D "$dir/database" -k "$dir/database" -h '' -c fsync=off
}
