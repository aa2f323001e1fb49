// Subgroups on multiprocessors. Groups of subgroups start in order, each where a place is free first; a place is free when the
// last subgroup of its group is done. A subgroup has so much work to do, and is slower the more others its multiprocessor has:
// by (1 - c) + c * n / most.
#include <stdlib.h>

typedef struct { double until; int place; } Item;
typedef struct { Item heap[128]; int n, left[32]; double done, at, next; } Multiprocessor;

static void put(Multiprocessor *m, double until, int place) {
    int i = m->n++;
    for (; i && m->heap[(i - 1) / 2].until > until; i = (i - 1) / 2) m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = (Item){until, place};
}

static Item take(Multiprocessor *m) {
    Item first = m->heap[0], last = m->heap[--m->n];
    int i = 0;
    for (int k; (k = 2 * i + 1) < m->n; i = k) {
        if (k + 1 < m->n && m->heap[k + 1].until < m->heap[k].until) k++;
        if (last.until <= m->heap[k].until) break;
        m->heap[i] = m->heap[k];
    }
    m->heap[i] = last;
    return first;
}

// When everything is done. Group g has the work[starts[g] .. starts[g + 1]].
double simulate(int groups, const int *starts, const double *work, int multiprocessors, int places, double c, double most) {
    Multiprocessor *all = calloc(multiprocessors, sizeof *all);
    double end = 0;
    int next = 0;
    for (int p = 0; p < places; p++)
        for (int k = 0; k < multiprocessors && next < groups; k++, next++) {
            all[k].left[p] = starts[next + 1] - starts[next];
            for (int s = starts[next]; s < starts[next + 1]; s++) put(&all[k], work[s], p);
        }
    #define SLOWER(m) ((1 - c) + c * (m)->n / most)
    for (int k = 0; k < multiprocessors; k++) all[k].next = all[k].n ? all[k].heap[0].until * SLOWER(&all[k]) : 1e300;
    for (;;) {
        Multiprocessor *m = all;
        for (int k = 1; k < multiprocessors; k++) if (all[k].next < m->next) m = &all[k];
        if (m->next >= 1e300) break;
        end = m->at = m->next;
        Item item = take(m);
        m->done = item.until;
        if (--m->left[item.place] == 0 && next < groups) {
            m->left[item.place] = starts[next + 1] - starts[next];
            for (int s = starts[next]; s < starts[next + 1]; s++) put(m, m->done + work[s], item.place);
            next++;
        }
        m->next = m->n ? m->at + (m->heap[0].until - m->done) * SLOWER(m) : 1e300;
    }
    free(all);
    return end;
}
