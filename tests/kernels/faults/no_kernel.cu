// Host code only.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

int main()
{
    return 0;
}
