/* A busy loop that takes no signal it can refuse. */
#include <signal.h>
#include <unistd.h>

int main(void) {
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    (void)!write(1, "on\n", 3);
    for (volatile unsigned long i = 0;; i++) {}
}
