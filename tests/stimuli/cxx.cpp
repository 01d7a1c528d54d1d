// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names as C++ makes them: namespaces, templates, overloads, operators, constructors, lambdas,
 * local classes, virtual functions and exceptions.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace shapes
{
class shape {
public:
	explicit shape(std::string name) : name_(std::move(name))
	{
	}
	virtual ~shape() = default;
	virtual double area() const = 0;
	const std::string &name() const
	{
		return name_;
	}

private:
	std::string name_;
};

namespace
{
class square : public shape {
public:
	explicit square(double side) : shape("square"), side_(side)
	{
	}
	double area() const override
	{
		return side_ * side_;
	}

private:
	double side_;
};
}

template <typename T, unsigned Sides> class polygon : public shape {
public:
	explicit polygon(T scale) : shape("polygon" + std::to_string(Sides)), scale_(scale)
	{
	}
	double area() const override
	{
		struct slice {
			__attribute__((noinline)) static double of(double v)
			{
				return v * v / 2;
			}
		};
		return Sides * slice::of(scale_);
	}
	__attribute__((noinline)) polygon operator*(T by) const
	{
		return polygon(scale_ * by);
	}

private:
	T scale_;
};
}

template <typename F> __attribute__((noinline)) static double apply(const F &f, double v)
{
	return f(f(v));
}

__attribute__((noinline)) static double total(const std::vector<std::unique_ptr<shapes::shape>> &all)
{
	std::map<std::string, double> by_name;

	for (const auto &s : all)
		by_name[s->name()] += s->area();
	return std::accumulate(by_name.begin(), by_name.end(), 0.0,
			       [](double sum, const auto &kv) { return sum + kv.second; });
}

static void checked(double v)
{
	if (v > 1e9)
		throw std::range_error("too large");
}

int main()
{
	std::vector<std::unique_ptr<shapes::shape>> all;
	double sum = 0;

	for (int i = 1; i < 100; i++) {
		all.push_back(std::make_unique<shapes::square>(i));
		all.push_back(std::make_unique<shapes::polygon<int, 5>>(i));
		all.push_back(std::make_unique<shapes::polygon<double, 8>>(
			shapes::polygon<double, 8>(i) * 1.5));
		std::sort(all.begin(), all.end(),
			  [](const auto &a, const auto &b) { return a->area() < b->area(); });
		sum += apply([i](double v) { return v / 2 + i; }, total(all));
		try {
			checked(sum);
		} catch (const std::range_error &e) {
			std::printf("%s\n", e.what());
			break;
		}
	}
	std::printf("%g\n", sum);
	return 0;
}
