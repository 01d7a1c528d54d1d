#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A clickhouse-server on loopback with all its data below a directory, for demos and tests:
#
#   clickhouse.sh start DIR PORT   HTTP on PORT, the native protocol on PORT + 1; waits until it answers
#   clickhouse.sh kill DIR         ends it at once, as a crash would
#   clickhouse.sh sql PORT SQL     prints the result
#
# DIR/pid has the process. A directory that has data goes on with it.
set -eu

server=$(command -v clickhouse-server || echo /usr/sbin/clickhouse-server)

configure() {
	mkdir -p "$1/data" "$1/tmp"
	cat >"$1/config.xml" <<-XML
		<yandex><logger><level>warning</level><log>$1/server.log</log><errorlog>$1/errors.log</errorlog></logger>
		<http_port>$2</http_port><tcp_port>$(($2 + 1))</tcp_port><listen_host>127.0.0.1</listen_host>
		<path>$1/data/</path><tmp_path>$1/tmp/</tmp_path><users_config>$1/users.xml</users_config>
		<default_profile>default</default_profile><default_database>default</default_database>
		<mark_cache_size>67108864</mark_cache_size><max_concurrent_queries>50</max_concurrent_queries>
		<max_table_size_to_drop>0</max_table_size_to_drop></yandex>
	XML
	cat >"$1/users.xml" <<-XML
		<yandex><profiles><default><max_threads>2</max_threads></default></profiles>
		<quotas><default></default></quotas>
		<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile><quota>default</quota></default></users></yandex>
	XML
}

sql() {
	printf '%s' "$2" | curl -sS --max-time 60 --data-binary @- "http://127.0.0.1:$1/"
}

start() {
	[ -x "$server" ] || {
		echo "clickhouse.sh: no clickhouse-server; install it (Debian: apt-get install clickhouse-server clickhouse-client)" >&2
		exit 1
	}
	configure "$1" "$2"
	# A session of its own: signals of a terminal do not reach it.
	setsid nice "$server" --config-file="$1/config.xml" >"$1/output.log" 2>&1 </dev/null &
	echo $! >"$1/pid"
	tries=0
	until [ "$(sql "$2" 'SELECT 1' 2>/dev/null)" = 1 ]; do
		tries=$((tries + 1))
		if [ $tries -gt 300 ] || ! kill -0 "$(cat "$1/pid")" 2>/dev/null; then
			echo "clickhouse.sh: the server in $1 does not answer:" >&2
				cat "$1/output.log" "$1/errors.log" 2>/dev/null | tail -n 5 >&2
			exit 1
		fi
		sleep 0.1
	done
}

kill_server() {
	pid=$(cat "$1/pid" 2>/dev/null) || return 0
	kill -9 "$pid" 2>/dev/null || :
	# Its port is free when it is gone.
	while kill -0 "$pid" 2>/dev/null && [ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != Z ]; do
		sleep 0.02
	done
	rm -f "$1/pid"
}

case ${1:-} in
start) start "$2" "$3" ;;
kill) kill_server "$2" ;;
sql) sql "$2" "$3" ;;
*)
	sed -n '3,9s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
