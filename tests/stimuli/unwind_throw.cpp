// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind_throw: throws exceptions over frames with destructors, catches them half way and throws them on;
 * sorts, formats and calls through functions in between, because no stack can be walked while an exception's
 * registers are being restored. Runs until it is killed.
 */
#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

volatile unsigned long sink;

struct guard {
	std::string text;
	explicit guard(unsigned long n) : text("a text that is too long to be short " + std::to_string(n))
	{
	}
	~guard()
	{
		sink = sink + text.size();
	}
};

struct shape {
	virtual ~shape() = default;
	virtual unsigned long walk(unsigned int depth) = 0;
};

__attribute__((noinline)) unsigned long deep(unsigned int depth, unsigned long seed)
{
	guard g(seed);

	if (!depth)
		throw std::runtime_error(g.text);
	if (depth % 5)
		return deep(depth - 1, seed * 31 + depth) + g.text[3];
	try {
		return deep(depth - 1, seed + 7) + 1;
	} catch (const std::runtime_error &e) {
		sink = sink + e.what()[0];
		throw;
	}
}

struct sorter : shape {
	std::vector<unsigned long> v;
	unsigned long walk(unsigned int depth) override
	{
		v.resize(200 + depth);
		for (auto &x : v)
			x = sink = sink * 6364136223846793005u + 1442695040888963407u;
		std::sort(v.begin(), v.end(),
			  [](unsigned long a, unsigned long b) { return a % 977 < b % 977; });
		return v[v.size() / 2];
	}
};

struct counter : shape {
	std::map<std::string, unsigned long> seen;
	unsigned long walk(unsigned int depth) override
	{
		for (unsigned int i = 0; i < 50; i++)
			seen[std::to_string(sink % (1000 + i) + depth)]++;
		if (seen.size() > 4000)
			seen.clear();
		return seen.size();
	}
};

__attribute__((noinline)) unsigned long through(const std::function<unsigned long(unsigned int)> &f,
						unsigned int depth)
{
	return depth ? through(f, depth - 1) + 1 : f(3);
}

} // namespace

int main()
{
	sorter s;
	counter c;
	shape *shapes[] = { &s, &c };

	for (unsigned int i = 0;; i++) {
		shape *next = shapes[i & 1];

		try {
			if (i % 8 == 0)
				sink = sink + deep(1 + i / 8 % 30, i);
		} catch (const std::exception &e) {
			sink = sink + e.what()[1];
		}
		sink = sink + through([&](unsigned int d) { return next->walk(d + i % 50); }, i % 12);
	}
}
