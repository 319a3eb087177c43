// The numbers that lacking.cu lacks: some that no size can be, and a scalar below zero.
#include <cstdio>
#include <vector>

struct Window {
    int first, shift;
    float scale;
};

void shift_on_device(const float *x, float *y, int rows, int columns, float factor, Window w);

int main()
{
    std::vector<float> x(30 * 41), y(x.size());

    for (size_t i = 0; i < x.size(); i++)
        x[i] = i % 13;
    shift_on_device(x.data(), y.data(), 30, 41, -1.5f, Window{0, -4, 2});
    puts(y[1000] == -3 * x[1000] - 4 ? "PASS" : "FAIL");
}
