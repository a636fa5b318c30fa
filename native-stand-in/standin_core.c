// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "standin_shim.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

double si_now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// ---------------------------------------------------------------------------------------------------------------------
// Faults and figures

static struct {
    char name[32];
    long value;
} figures[64] = {{"devices", 2}, {"memory-mib", 4096}};
static pthread_mutex_t figures_lock = PTHREAD_MUTEX_INITIALIZER;

static long *figure(const char *name) {
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (figures[i].name[0] == 0) {
            strncpy(figures[i].name, name, sizeof figures[i].name - 1);
        }
        if (strcmp(figures[i].name, name) == 0) {
            return &figures[i].value;
        }
    }
    abort();
}

void standin_set(const char *name, long value) {
    pthread_mutex_lock(&figures_lock);
    *figure(name) = value;
    pthread_mutex_unlock(&figures_lock);
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

long standin_get(const char *name) {
    pthread_mutex_lock(&figures_lock);
    long value = *figure(name);
    pthread_mutex_unlock(&figures_lock);
    return value;
}

long si_fault(const char *name) { return standin_get(name); }

long si_count(const char *name) {
    pthread_mutex_lock(&figures_lock);
    long value = ++*figure(name);
    pthread_mutex_unlock(&figures_lock);
    return value;
}

int si_strikes(const char *name) {
    pthread_mutex_lock(&figures_lock);
    long *left = figure(name);
    int strikes = *left == 1;
    if (*left > 0) {
        --*left;
    }
    pthread_mutex_unlock(&figures_lock);
    return strikes;
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

int si_element_bytes(int type) {
    switch (type) {
        case SI_FP32:
        case SI_INT32:
            return 4;
        case SI_FP16:
        case SI_BF16:
            return 2;
        default:
            return 1;
    }
}

static float bits_to_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint32_t float_to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

// Small floats by their fields: exponent and mantissa bits, bias, and what the top of the range means.
typedef struct {
    int exponent_bits, mantissa_bits, bias;
    int fnuz;        // no infinity, no negative zero, one NaN
    int no_infinity; // OCP E4M3
} small_float;

static const small_float SMALL[SI_TYPES] = {
    [SI_FP16] = {5, 10, 15, 0, 0},     [SI_E4M3] = {4, 3, 7, 0, 1},       [SI_E5M2] = {5, 2, 15, 0, 0},
    [SI_E4M3_FNUZ] = {4, 3, 8, 1, 0},  [SI_E5M2_FNUZ] = {5, 2, 16, 1, 0},
};

static float decode_small(uint32_t bits, small_float f) {
    uint32_t sign = bits >> (f.exponent_bits + f.mantissa_bits);
    uint32_t exponent = bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1);
    uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
    if (f.fnuz && sign && exponent == 0 && mantissa == 0) {
        return NAN;
    }
    if (exponent == (1u << f.exponent_bits) - 1 && !f.fnuz) {
        if (f.no_infinity) {
            if (mantissa == (1u << f.mantissa_bits) - 1) {
                return NAN;
            }
        } else {
            return mantissa ? NAN : sign ? -INFINITY : INFINITY;
        }
    }
    float value = exponent == 0 ? ldexpf((float)mantissa, 1 - f.bias - f.mantissa_bits)
                                : ldexpf((float)(mantissa | 1u << f.mantissa_bits), (int)exponent - f.bias - f.mantissa_bits);
    return sign ? -value : value;
}

static uint32_t encode_small(float value, small_float f, int saturate) {
    uint32_t sign = (float_to_bits(value) >> 31) << (f.exponent_bits + f.mantissa_bits);
    uint32_t top = (1u << f.exponent_bits) - 1;
    if (isnan(value)) {
        return f.fnuz ? 0x80u : f.no_infinity ? sign | 0x7Fu : sign | top << f.mantissa_bits | ((1u << f.mantissa_bits) - (f.mantissa_bits < 4 ? 1u : 1u << (f.mantissa_bits - 1)));
    }
    if (isinf(value)) {
        return f.fnuz ? 0x80u : f.no_infinity ? sign | 0x7Fu : sign | top << f.mantissa_bits;
    }
    float magnitude = fabsf(value);
    int exponent = magnitude == 0 ? 1 - f.bias : ilogbf(magnitude);
    if (exponent < 1 - f.bias) {
        exponent = 1 - f.bias;
    }
    double units = nearbyint(ldexp((double)magnitude, f.mantissa_bits - exponent));
    double hidden = (double)(1u << f.mantissa_bits);
    double code = units < hidden ? units : (double)((int64_t)(exponent + f.bias - 1) << f.mantissa_bits) + units;
    uint32_t largest = f.fnuz ? 0x7Fu : f.no_infinity ? 0x7Eu : (top << f.mantissa_bits) - 1;
    uint32_t result;
    if (code > largest) {
        result = saturate ? largest : top << f.mantissa_bits; // fp16 overflows to infinity
    } else {
        result = (uint32_t)code;
    }
    return f.fnuz && result == 0 ? 0 : sign | result;
}

float si_load(const void *base, int64_t index, int type) {
    switch (type) {
        case SI_FP32:
            return ((const float *)base)[index];
        case SI_BF16:
            return bits_to_float((uint32_t)((const uint16_t *)base)[index] << 16);
        case SI_FP16:
            return decode_small(((const uint16_t *)base)[index], SMALL[type]);
        case SI_INT8:
            return ((const int8_t *)base)[index];
        case SI_INT32:
            return (float)((const int32_t *)base)[index];
        default:
            return decode_small(((const uint8_t *)base)[index], SMALL[type]);
    }
}

void si_store(void *base, int64_t index, int type, float value) {
    switch (type) {
        case SI_FP32:
            ((float *)base)[index] = value;
            break;
        case SI_BF16: {
            uint32_t bits = float_to_bits(value);
            ((uint16_t *)base)[index] =
                isnan(value) ? (uint16_t)(bits >> 16 | 0x40) : (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
            break;
        }
        case SI_FP16:
            ((uint16_t *)base)[index] = (uint16_t)encode_small(value, SMALL[type], 0);
            break;
        case SI_INT8:
            ((int8_t *)base)[index] = (int8_t)value;
            break;
        case SI_INT32:
            ((int32_t *)base)[index] = (int32_t)value;
            break;
        default:
            ((uint8_t *)base)[index] = (uint8_t)encode_small(value, SMALL[type], 1);
            break;
    }
}

static float rounded(float value, int type) {
    if (type == SI_FP32) {
        return value;
    }
    uint64_t place = 0;
    si_store(&place, 0, type, value);
    return si_load(&place, 0, type);
}

static float combine(float sum, float next, int op, float factor) {
    switch (op) {
        case SI_PROD:
            return sum * next;
        case SI_MIN:
            if (isnan(sum) || isnan(next)) {
                return NAN;
            }
            return sum < next || (sum == next && signbit(sum)) ? sum : next;
        case SI_MAX:
            if (isnan(sum) || isnan(next)) {
                return NAN;
            }
            return sum > next || (sum == next && !signbit(sum)) ? sum : next;
        case SI_AVG:
        case SI_SCALED: {
            volatile float product = next * factor; // rounded by itself, never fused
            return sum + product;
        }
        default:
            return sum + next;
    }
}

static int64_t load_whole(const void *base, int64_t index, int type) {
    return type == SI_INT8 ? ((const int8_t *)base)[index] : ((const int32_t *)base)[index];
}

static int64_t wrap(int64_t value, int type) { return type == SI_INT8 ? (int8_t)value : (int32_t)value; }

static void store_whole(void *base, int64_t index, int type, int64_t value) {
    if (type == SI_INT8) {
        ((int8_t *)base)[index] = (int8_t)value;
    } else {
        ((int32_t *)base)[index] = (int32_t)value;
    }
}

// One element of a reduction of n inputs, given by pointers and indices.
static void reduce_element(void *to, int64_t to_index, int output_type, const void *const *from, const int64_t *index, int inputs, int input_type, int op, const float *factors) {
    if (input_type == SI_INT8 || input_type == SI_INT32) {
        int64_t sum = 0;
        for (int i = 0; i < inputs; i++) {
            int64_t next = load_whole(from[i], index[i], input_type);
            if (op == SI_SCALED) {
                next = wrap(next * (int64_t)factors[i], input_type);
            }
            if (i == 0) {
                sum = next;
            } else if (op == SI_PROD) {
                sum = wrap(sum * next, input_type);
            } else if (op == SI_MIN) {
                sum = next < sum ? next : sum;
            } else if (op == SI_MAX) {
                sum = next > sum ? next : sum;
            } else {
                sum = wrap(sum + next, input_type);
            }
        }
        store_whole(to, to_index, output_type, op == SI_AVG ? sum / inputs : sum);
        return;
    }
    float sum = 0;
    for (int i = 0; i < inputs; i++) {
        float next = si_load(from[i], index[i], input_type);
        float factor = op == SI_AVG || op == SI_SCALED ? rounded(factors[i], input_type) : 1;
        if (i == 0) {
            sum = op == SI_AVG || op == SI_SCALED ? next * factor : next;
        } else {
            sum = combine(sum, next, op, factor);
        }
    }
    si_store(to, to_index, output_type, sum);
}

// ---------------------------------------------------------------------------------------------------------------------
// Signals, streams and events

typedef struct {
    int references;
    int done;
    double time;
} signal_t;

typedef struct work_item {
    si_work work; // null for a marker
    void *argument;
    signal_t **waits;
    int wait_count;
    signal_t *done;
    struct work_item *next;
} work_item;

typedef struct node_t {
    si_work work;
    void *argument;
    size_t bytes;
    int *deps;
    int dep_count;
    int lane;
    int device;
    si_event *event; // records it, if not null
} node_t;

typedef struct capture_t {
    node_t *nodes;
    int count, room;
    si_stream *origin;
    si_stream **streams;
    int stream_count;
} capture_t;

struct si_stream {
    int device;
    int blocking;
    int is_default;
    int closing;
    int wanted; // somebody has waited for it
    pthread_t thread;
    work_item *head, *last;
    signal_t *tail;
    capture_t *capture;
    int *capture_deps;
    int capture_dep_count;
    int lane; // in its capture
    si_stream *next;
};

struct si_event {
    int device;
    int timed;
    signal_t *signal;
    capture_t *capture;
    int *capture_deps;
    int capture_dep_count;
};

static si_stream *streams;
static si_stream *defaults[SI_MAX_DEVICES];
static int failed[SI_MAX_DEVICES];

static signal_t *new_signal(void) {
    signal_t *s = calloc(1, sizeof *s);
    s->references = 1;
    return s;
}

static signal_t *keep(signal_t *s) {
    if (s) {
        s->references++;
    }
    return s;
}

static void drop(signal_t *s) {
    if (s && --s->references == 0) {
        free(s);
    }
}

static int run_copy(void *argument);

static void *run_stream(void *argument) {
    si_stream *stream = argument;
    pthread_mutex_lock(&lock);
    while (1) {
        while (!stream->head && !stream->closing) {
            pthread_cond_wait(&changed, &lock);
        }
        work_item *item = stream->head;
        if (!item) {
            break;
        }
        for (int i = 0; i < item->wait_count; i++) {
            while (!item->waits[i]->done) {
                pthread_cond_wait(&changed, &lock);
            }
        }
        while (item->work == run_copy && si_fault("lazy-copies") && !stream->wanted && !stream->closing) {
            pthread_cond_wait(&changed, &lock);
        }
        if (item->work && !failed[stream->device]) {
            pthread_mutex_unlock(&lock);
            int code = item->work(item->argument);
            pthread_mutex_lock(&lock);
            if (code != SI_OK) {
                failed[stream->device] = 1;
            }
        }
        item->done->done = 1;
        item->done->time = si_now_seconds();
        stream->head = item->next;
        if (!stream->head) {
            stream->last = NULL;
        }
        for (int i = 0; i < item->wait_count; i++) {
            drop(item->waits[i]);
        }
        drop(item->done);
        free(item->waits);
        free(item->argument);
        free(item);
        pthread_cond_broadcast(&changed);
    }
    drop(stream->tail);
    free(stream->capture_deps);
    free(stream);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static si_stream *create_locked(int device, int blocking, int is_default) {
    si_stream *stream = calloc(1, sizeof *stream);
    stream->device = device;
    stream->blocking = blocking;
    stream->is_default = is_default;
    stream->next = streams;
    streams = stream;
    pthread_create(&stream->thread, NULL, run_stream, stream);
    pthread_detach(stream->thread);
    return stream;
}

si_stream *si_stream_create(int device, int blocking) {
    pthread_mutex_lock(&lock);
    si_stream *stream = create_locked(device, blocking, 0);
    pthread_mutex_unlock(&lock);
    return stream;
}

si_stream *si_default_stream(int device) {
    pthread_mutex_lock(&lock);
    if (!defaults[device]) {
        defaults[device] = create_locked(device, 0, 1);
    }
    si_stream *stream = defaults[device];
    pthread_mutex_unlock(&lock);
    return stream;
}

int si_stream_device(si_stream *stream) { return stream->device; }

int si_stream_destroy(si_stream *stream) {
    pthread_mutex_lock(&lock);
    for (si_stream **at = &streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    stream->closing = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return SI_OK;
}

static void add_wait(work_item *item, signal_t *s) {
    if (s && !s->done) {
        item->waits = realloc(item->waits, (item->wait_count + 1) * sizeof *item->waits);
        item->waits[item->wait_count++] = keep(s);
    }
}

// Adds an item behind the stream's work and what joins it. Takes over the item; gives its signal, borrowed.
static signal_t *push_item(si_stream *stream, work_item *item) {
    item->done = new_signal();
    if (stream->is_default) {
        for (si_stream *other = streams; other; other = other->next) {
            if (other->blocking && other->device == stream->device) {
                add_wait(item, other->tail);
            }
        }
    } else if (stream->blocking && defaults[stream->device]) {
        add_wait(item, defaults[stream->device]->tail);
    }
    if (stream->last) {
        stream->last->next = item;
    } else {
        stream->head = item;
    }
    stream->last = item;
    drop(stream->tail);
    stream->tail = keep(item->done);
    pthread_cond_broadcast(&changed);
    return item->done;
}

static int contains(const int *list, int count, int value) {
    for (int i = 0; i < count; i++) {
        if (list[i] == value) {
            return 1;
        }
    }
    return 0;
}

static void unite(int **list, int *count, const int *more, int more_count) {
    for (int i = 0; i < more_count; i++) {
        if (!contains(*list, *count, more[i])) {
            *list = realloc(*list, (*count + 1) * sizeof **list);
            (*list)[(*count)++] = more[i];
        }
    }
}

static void capture_node(si_stream *stream, si_work work, const void *argument, size_t bytes, si_event *event) {
    capture_t *capture = stream->capture;
    if (capture->count == capture->room) {
        capture->room = capture->room ? 2 * capture->room : 64;
        capture->nodes = realloc(capture->nodes, capture->room * sizeof *capture->nodes);
    }
    node_t *node = &capture->nodes[capture->count];
    memset(node, 0, sizeof *node);
    node->work = work;
    node->bytes = bytes;
    if (bytes) {
        node->argument = malloc(bytes);
        memcpy(node->argument, argument, bytes);
    }
    node->deps = stream->capture_deps;
    node->dep_count = stream->capture_dep_count;
    node->lane = stream->lane;
    node->device = stream->device;
    node->event = event;
    stream->capture_deps = malloc(sizeof(int));
    stream->capture_deps[0] = capture->count++;
    stream->capture_dep_count = 1;
}

int si_push(si_stream *stream, si_work work, const void *argument, size_t bytes) {
    pthread_mutex_lock(&lock);
    if (stream->capture) {
        capture_node(stream, work, argument, bytes, NULL);
        pthread_mutex_unlock(&lock);
        return SI_OK;
    }
    int code = failed[stream->device] ? SI_DEVICE_FAILED : SI_OK;
    if (code == SI_OK) {
        work_item *item = calloc(1, sizeof *item);
        item->work = work;
        if (bytes) {
            item->argument = malloc(bytes);
            memcpy(item->argument, argument, bytes);
        }
        push_item(stream, item);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_is_capturing(si_stream *stream) { return stream->capture != NULL; }

static int wait_signal(signal_t *s, int device) {
    while (s && !s->done) {
        pthread_cond_wait(&changed, &lock);
    }
    return failed[device] ? SI_DEVICE_FAILED : SI_OK;
}

static int wait_stream(si_stream *stream) {
    int device = stream->device;
    signal_t *tail = keep(stream->tail);
    stream->wanted = 1;
    pthread_cond_broadcast(&changed);
    int code = wait_signal(tail, device); // The stream may be gone afterwards.
    drop(tail);
    return code;
}

int si_stream_synchronize(si_stream *stream) {
    pthread_mutex_lock(&lock);
    int code;
    if (stream->capture) {
        code = SI_CAPTURE_ILLEGAL;
    } else {
        code = wait_stream(stream);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_stream_query(si_stream *stream) {
    pthread_mutex_lock(&lock);
    int code = failed[stream->device] ? SI_DEVICE_FAILED : stream->tail && !stream->tail->done ? SI_NOT_READY : SI_OK;
    pthread_mutex_unlock(&lock);
    return code;
}

int si_device_synchronize(int device) {
    pthread_mutex_lock(&lock);
    int again = 1;
    while (again) {
        again = 0;
        for (si_stream *stream = streams; stream; stream = stream->next) {
            if (stream->device == device && stream->tail && !stream->tail->done) {
                wait_stream(stream);
                again = 1;
                break;
            }
        }
    }
    int code = failed[device] ? SI_DEVICE_FAILED : SI_OK;
    pthread_mutex_unlock(&lock);
    return code;
}

si_event *si_event_create(int device, int timed) {
    si_event *event = calloc(1, sizeof *event);
    event->device = device;
    event->timed = timed;
    return event;
}

int si_event_destroy(si_event *event) {
    pthread_mutex_lock(&lock);
    drop(event->signal);
    free(event->capture_deps);
    free(event);
    pthread_mutex_unlock(&lock);
    return SI_OK;
}

int si_event_record(si_event *event, si_stream *stream, int external) {
    pthread_mutex_lock(&lock);
    int code = SI_OK;
    if (event->device != stream->device) {
        code = SI_INVALID;
    } else if (stream->capture && external) {
        capture_node(stream, NULL, NULL, 0, event);
    } else if (stream->capture) {
        free(event->capture_deps);
        event->capture = stream->capture;
        event->capture_deps = NULL;
        event->capture_dep_count = 0;
        unite(&event->capture_deps, &event->capture_dep_count, stream->capture_deps, stream->capture_dep_count);
    } else if (failed[stream->device]) {
        code = SI_DEVICE_FAILED;
    } else {
        event->capture = NULL;
        work_item *item = calloc(1, sizeof *item);
        signal_t *done = push_item(stream, item);
        drop(event->signal);
        event->signal = keep(done);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_event_query(si_event *event) {
    pthread_mutex_lock(&lock);
    int code = failed[event->device]                      ? SI_DEVICE_FAILED
               : event->signal && !event->signal->done ? SI_NOT_READY
                                                       : SI_OK;
    pthread_mutex_unlock(&lock);
    return code;
}

int si_event_synchronize(si_event *event) {
    pthread_mutex_lock(&lock);
    signal_t *s = keep(event->signal);
    int code = wait_signal(s, event->device);
    drop(s);
    pthread_mutex_unlock(&lock);
    return code;
}

int si_event_elapsed(float *millis, si_event *start, si_event *end) {
    pthread_mutex_lock(&lock);
    int code = SI_OK;
    if (!start->timed || !end->timed || !start->signal || !end->signal || start->device != end->device) {
        code = SI_INVALID; // as on hardware: two devices have two clocks
    } else if (!start->signal->done || !end->signal->done) {
        code = SI_NOT_READY;
    } else {
        *millis = (float)((end->signal->time - start->signal->time) * 1e3);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_stream_wait(si_stream *stream, si_event *event) {
    pthread_mutex_lock(&lock);
    int code = SI_OK;
    if (event->capture) {
        capture_t *capture = event->capture;
        if (!stream->capture) {
            stream->capture = capture;
            stream->lane = capture->stream_count;
            capture->streams = realloc(capture->streams, (capture->stream_count + 1) * sizeof *capture->streams);
            capture->streams[capture->stream_count++] = stream;
            free(stream->capture_deps);
            stream->capture_deps = NULL;
            stream->capture_dep_count = 0;
        }
        if (stream->capture != capture) {
            code = SI_CAPTURE_ILLEGAL;
        } else {
            unite(&stream->capture_deps, &stream->capture_dep_count, event->capture_deps, event->capture_dep_count);
        }
    } else if (stream->capture) {
        code = SI_CAPTURE_ILLEGAL; // work from outside the capture
    } else if (event->signal && !event->signal->done && !si_fault("ignore-waits")) {
        work_item *item = calloc(1, sizeof *item);
        add_wait(item, event->signal);
        push_item(stream, item);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

// ---------------------------------------------------------------------------------------------------------------------
// Graphs

struct si_graph {
    node_t *nodes;
    int count;
    int lanes;
};

struct si_exec {
    node_t *nodes;
    int count;
    int lanes;
    si_stream **streams; // one for each lane
    signal_t *last;      // launches of one graph follow one another
};

static void free_nodes(node_t *nodes, int count) {
    for (int i = 0; i < count; i++) {
        free(nodes[i].argument);
        free(nodes[i].deps);
    }
    free(nodes);
}

static node_t *copy_nodes(const node_t *nodes, int count) {
    node_t *copy = calloc(count ? count : 1, sizeof *copy);
    for (int i = 0; i < count; i++) {
        copy[i] = nodes[i];
        if (nodes[i].bytes) {
            copy[i].argument = malloc(nodes[i].bytes);
            memcpy(copy[i].argument, nodes[i].argument, nodes[i].bytes);
        }
        copy[i].deps = malloc((nodes[i].dep_count + 1) * sizeof(int));
        memcpy(copy[i].deps, nodes[i].deps, nodes[i].dep_count * sizeof(int));
    }
    return copy;
}

int si_capture_begin(si_stream *stream) {
    pthread_mutex_lock(&lock);
    int code = SI_OK;
    if (stream->capture || stream->is_default) {
        code = SI_CAPTURE_ILLEGAL;
    } else {
        capture_t *capture = calloc(1, sizeof *capture);
        capture->origin = stream;
        capture->streams = malloc(sizeof *capture->streams);
        capture->streams[0] = stream;
        capture->stream_count = 1;
        stream->capture = capture;
        stream->lane = 0;
        free(stream->capture_deps);
        stream->capture_deps = NULL;
        stream->capture_dep_count = 0;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_capture_end(si_stream *stream, si_graph **graph) {
    pthread_mutex_lock(&lock);
    capture_t *capture = stream->capture;
    if (!capture || capture->origin != stream) {
        pthread_mutex_unlock(&lock);
        return SI_NOT_CAPTURING;
    }
    // Everything must lie before the first stream's end.
    char *reached = calloc(capture->count + 1, 1);
    for (int i = 0; i < stream->capture_dep_count; i++) {
        reached[stream->capture_deps[i]] = 1;
    }
    int code = SI_OK;
    for (int i = capture->count - 1; i >= 0; i--) {
        if (!reached[i]) {
            code = SI_CAPTURE_UNJOINED;
        }
        for (int d = 0; d < capture->nodes[i].dep_count; d++) {
            reached[capture->nodes[i].deps[d]] |= reached[i];
        }
    }
    free(reached);
    int lanes = capture->stream_count;
    for (int i = 0; i < lanes; i++) {
        si_stream *one = capture->streams[i];
        one->capture = NULL;
        free(one->capture_deps);
        one->capture_deps = NULL;
        one->capture_dep_count = 0;
    }
    if (code == SI_OK) {
        *graph = calloc(1, sizeof **graph);
        (*graph)->nodes = capture->nodes;
        (*graph)->count = capture->count;
        (*graph)->lanes = lanes;
    } else {
        free_nodes(capture->nodes, capture->count);
    }
    free(capture->streams);
    // Events may still point at it until they are recorded again; a capture is small.
    capture->nodes = NULL;
    pthread_mutex_unlock(&lock);
    return code;
}

long si_graph_nodes(si_graph *graph) { return graph->count; }

void si_graph_destroy(si_graph *graph) {
    free_nodes(graph->nodes, graph->count);
    free(graph);
}

si_exec *si_graph_instantiate(si_graph *graph) {
    si_exec *exec = calloc(1, sizeof *exec);
    exec->nodes = copy_nodes(graph->nodes, graph->count);
    exec->count = graph->count;
    exec->lanes = graph->lanes;
    exec->streams = calloc(exec->lanes, sizeof *exec->streams);
    for (int lane = 0; lane < exec->lanes; lane++) {
        int device = 0;
        for (int i = 0; i < exec->count; i++) {
            if (exec->nodes[i].lane == lane) {
                device = exec->nodes[i].device;
                break;
            }
        }
        exec->streams[lane] = si_stream_create(device, 0);
    }
    return exec;
}

int si_exec_update(si_exec *exec, si_graph *graph) {
    if (exec->count != graph->count || exec->lanes != graph->lanes) {
        return SI_INVALID;
    }
    for (int i = 0; i < exec->count; i++) {
        node_t *old = &exec->nodes[i];
        node_t *new = &graph->nodes[i];
        if (old->work != new->work || old->lane != new->lane || old->dep_count != new->dep_count ||
            memcmp(old->deps, new->deps, old->dep_count * sizeof(int)) != 0) {
            return SI_INVALID;
        }
    }
    pthread_mutex_lock(&lock);
    free_nodes(exec->nodes, exec->count);
    exec->nodes = copy_nodes(graph->nodes, graph->count);
    pthread_mutex_unlock(&lock);
    return SI_OK;
}

int si_exec_launch(si_exec *exec, si_stream *stream) {
    si_count("graph-launches");
    pthread_mutex_lock(&lock);
    if (failed[stream->device]) {
        pthread_mutex_unlock(&lock);
        return SI_DEVICE_FAILED;
    }
    work_item *first = calloc(1, sizeof *first);
    add_wait(first, exec->last);
    signal_t *start = keep(push_item(stream, first));
    signal_t **done = calloc(exec->count + 1, sizeof *done);
    for (int i = 0; i < exec->count; i++) {
        node_t *node = &exec->nodes[i];
        work_item *item = calloc(1, sizeof *item);
        item->work = node->work;
        if (node->bytes) {
            item->argument = malloc(node->bytes);
            memcpy(item->argument, node->argument, node->bytes);
        }
        add_wait(item, start);
        for (int d = 0; d < node->dep_count && !si_fault("ignore-waits"); d++) {
            add_wait(item, done[node->deps[d]]);
        }
        done[i] = keep(push_item(exec->streams[node->lane], item));
        if (node->event) {
            drop(node->event->signal);
            node->event->signal = keep(done[i]);
        }
    }
    work_item *last = calloc(1, sizeof *last);
    for (int i = 0; i < exec->count; i++) {
        add_wait(last, done[i]);
    }
    drop(exec->last);
    exec->last = keep(push_item(stream, last));
    for (int i = 0; i < exec->count; i++) {
        drop(done[i]);
    }
    free(done);
    drop(start);
    pthread_mutex_unlock(&lock);
    return SI_OK;
}

void si_exec_destroy(si_exec *exec) {
    for (int lane = 0; lane < exec->lanes; lane++) {
        si_stream_destroy(exec->streams[lane]);
    }
    pthread_mutex_lock(&lock);
    drop(exec->last);
    pthread_mutex_unlock(&lock);
    free_nodes(exec->nodes, exec->count);
    free(exec->streams);
    free(exec);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory

typedef struct allocation {
    void *address;
    void *pages;
    size_t page_bytes;
    size_t bytes;
    int device; // -1: host
    struct allocation *next;
} allocation;

static allocation *allocations;
static size_t used[SI_MAX_DEVICES];

int si_allocate(int device, size_t bytes, void **memory) {
    pthread_mutex_lock(&lock);
    int code = SI_OK;
    if (device >= 0 && used[device] + bytes > (size_t)si_fault("memory-mib") << 20) {
        code = SI_OUT_OF_MEMORY;
    } else {
        // Pages of its own which end where the memory ends, and a page behind that nobody may touch: a command that runs
        // over its memory ends the process at once. Large blocks start at 2 MiB, as a driver's do.
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        size_t large = 2u << 20;
        size_t usable = (bytes + page - 1) / page * page;
        size_t reserved = usable + page + (bytes >= large ? large : 0);
        char *start = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED) {
            code = SI_OUT_OF_MEMORY;
        } else {
            char *address = bytes >= large ? (char *)(((uintptr_t)start + large - 1) / large * large)
                                           : start + (usable - bytes) / 512 * 512;
            mprotect((bytes >= large ? address : start) + usable, page, PROT_NONE);
            allocation *a = calloc(1, sizeof *a);
            a->pages = start;
            a->page_bytes = reserved;
            a->address = address;
            a->bytes = bytes;
            a->device = device;
            a->next = allocations;
            allocations = a;
            if (device >= 0) {
                used[device] += bytes;
            }
            *memory = address;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_free(void *memory) {
    pthread_mutex_lock(&lock);
    int code = SI_INVALID;
    for (allocation **at = &allocations; *at; at = &(*at)->next) {
        if ((*at)->address == memory) {
            allocation *a = *at;
            *at = a->next;
            if (a->device >= 0) {
                used[a->device] -= a->bytes;
            }
            munmap(a->pages, a->page_bytes);
            free(a);
            code = SI_OK;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int run_free(void *argument) {
    si_free(*(void **)argument);
    return SI_OK;
}

int si_free_in_order(si_stream *stream, void *memory) { return si_push(stream, run_free, &memory, sizeof memory); }

void si_memory_info(int device, size_t *free_bytes, size_t *total_bytes) {
    pthread_mutex_lock(&lock);
    *total_bytes = (size_t)si_fault("memory-mib") << 20;
    *free_bytes = *total_bytes - used[device];
    pthread_mutex_unlock(&lock);
}

int si_reserve(size_t bytes, size_t alignment, void **address) {
    // A page that is not mapped can neither be read nor written: a stray command ends the process.
    char *wide = mmap(NULL, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (wide == MAP_FAILED) {
        return SI_OUT_OF_MEMORY;
    }
    char *start = (char *)(((uintptr_t)wide + alignment - 1) / alignment * alignment);
    if (start > wide) {
        munmap(wide, start - wide);
    }
    if (start + bytes < wide + bytes + alignment) {
        munmap(start + bytes, wide + alignment - start);
    }
    *address = start;
    return SI_OK;
}

int si_release(void *address, size_t bytes) { return munmap(address, bytes) == 0 ? SI_OK : SI_INVALID; }

typedef struct pages {
    int file;
    int device;
    size_t bytes;
    int mappings;
    int released;
    void *address;
    struct pages *next;
} pages;

static pages *all_pages;

static void drop_pages(pages *p) {
    if (p->released && p->mappings == 0) {
        for (pages **at = &all_pages; *at; at = &(*at)->next) {
            if (*at == p) {
                *at = p->next;
                break;
            }
        }
        close(p->file);
        used[p->device] -= p->bytes;
        free(p);
    }
}

int si_pages_create(int device, size_t bytes, uint64_t *handle) {
    pthread_mutex_lock(&lock);
    int code = SI_OK;
    if (used[device] + bytes > (size_t)si_fault("memory-mib") << 20) {
        code = SI_OUT_OF_MEMORY;
    } else {
        pages *p = calloc(1, sizeof *p);
        p->file = memfd_create("standin", MFD_CLOEXEC);
        p->device = device;
        p->bytes = bytes;
        if (p->file < 0 || ftruncate(p->file, (off_t)bytes) != 0) {
            code = SI_OUT_OF_MEMORY;
            free(p);
        } else {
            used[device] += bytes;
            p->next = all_pages;
            all_pages = p;
            *handle = (uint64_t)(uintptr_t)p;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_pages_release(uint64_t handle) {
    pthread_mutex_lock(&lock);
    pages *p = (pages *)(uintptr_t)handle;
    p->released = 1;
    drop_pages(p);
    pthread_mutex_unlock(&lock);
    return SI_OK;
}

int si_map(void *address, size_t bytes, uint64_t handle) {
    pthread_mutex_lock(&lock);
    pages *p = (pages *)(uintptr_t)handle;
    int code = SI_INVALID;
    if (p->bytes == bytes && p->mappings == 0 &&
        mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, p->file, 0) != MAP_FAILED) {
        p->mappings = 1;
        p->address = address;
        code = SI_OK;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_unmap(void *address, size_t bytes) {
    pthread_mutex_lock(&lock);
    int code = SI_INVALID;
    for (pages *p = all_pages; p;) {
        pages *next = p->next;
        if (p->mappings && (char *)p->address >= (char *)address && (char *)p->address < (char *)address + bytes) {
            mmap(p->address, p->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
            p->mappings = 0;
            drop_pages(p);
            code = SI_OK;
        }
        p = next;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int si_memory_device(const void *memory, size_t *bytes) {
    const char *wanted = memory;
    int device = -2;
    *bytes = 0;
    pthread_mutex_lock(&lock);
    for (allocation *a = allocations; a && device == -2; a = a->next) {
        const char *start = a->address;
        if (wanted >= start && wanted < start + a->bytes) {
            device = a->device;
            *bytes = (size_t)(start + a->bytes - wanted);
        }
    }
    for (pages *p = all_pages; p && device == -2; p = p->next) {
        const char *start = p->address;
        if (p->mappings && wanted >= start && wanted < start + p->bytes) {
            device = p->device;
            *bytes = SIZE_MAX; // the next page may go on behind it
        }
    }
    pthread_mutex_unlock(&lock);
    return device;
}

// ---------------------------------------------------------------------------------------------------------------------
// The calling thread's device

static __thread int current_device;

int si_current(void) { return current_device; }
void si_make_current(int device) { current_device = device; }

// ---------------------------------------------------------------------------------------------------------------------
// Data in stream order

typedef struct {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, rows;
} copy_t;

static int run_copy(void *argument) {
    copy_t *c = argument;
    long late = si_fault("late-copy-us");
    if (late > 0) {
        struct timespec pause = {late / 1000000, late % 1000000 * 1000};
        nanosleep(&pause, NULL);
    }
    if (si_strikes("fail-copy")) {
        return SI_DEVICE_FAILED;
    }
    for (size_t row = 0; row < c->rows; row++) {
        memcpy(c->to + row * c->to_pitch, c->from + row * c->from_pitch, c->width);
    }
    return SI_OK;
}

int si_copy(si_stream *stream, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows, int by_kernel) {
    si_count(by_kernel ? "kernel-copies" : "copies");
    copy_t c = {to, from, to_pitch, from_pitch, width, rows};
    return si_push(stream, run_copy, &c, sizeof c);
}

typedef struct {
    char *to;
    size_t pitch, columns, rows;
    uint32_t bits;
    int element_bytes;
} fill_t;

static int run_fill(void *argument) {
    fill_t *f = argument;
    for (size_t row = 0; row < f->rows; row++) {
        for (size_t column = 0; column < f->columns; column++) {
            memcpy(f->to + row * f->pitch + column * f->element_bytes, &f->bits, f->element_bytes);
        }
    }
    return SI_OK;
}

int si_fill(si_stream *stream, void *to, size_t pitch, uint32_t bits, int element_bytes, size_t columns, size_t rows) {
    fill_t f = {to, pitch, columns, rows, bits, element_bytes};
    return si_push(stream, run_fill, &f, sizeof f);
}

static int run_gemm(void *argument) {
    si_product *p = argument;
    if (si_strikes("fail-gemm")) {
        return SI_DEVICE_FAILED;
    }
    int whole = p->operand_type == SI_INT8;
    float *row = malloc((p->k + 1) * sizeof *row);
    float *columns = malloc((p->k * p->n + 1) * sizeof *columns);
    for (int batch = 0; batch < p->batch; batch++) {
        for (int64_t j = 0; j < p->n; j++) {
            for (int64_t k = 0; k < p->k; k++) {
                columns[j * p->k + k] = si_load(p->b, batch * p->b_stride + k * p->b_row + j * p->b_column, p->operand_type);
            }
        }
        for (int64_t i = 0; i < p->m; i++) {
            for (int64_t k = 0; k < p->k; k++) {
                row[k] = si_load(p->a, batch * p->a_stride + i * p->a_row + k * p->a_column, p->operand_type);
            }
            for (int64_t j = 0; j < p->n; j++) {
                const float *column = columns + j * p->k;
                int64_t at = batch * p->c_stride + i * p->c_row + j * p->c_column;
                if (whole) {
                    int32_t sum = 0;
                    for (int64_t k = 0; k < p->k; k++) {
                        sum += (int32_t)row[k] * (int32_t)column[k];
                    }
                    int32_t *c = p->c;
                    c[at] = (int32_t)p->alpha * sum + (p->beta == 0 ? 0 : (int32_t)p->beta * c[at]);
                } else {
                    float sum = 0;
                    for (int64_t k = 0; k < p->k; k++) {
                        sum = fmaf(row[k], column[k], sum);
                    }
                    volatile float result = p->alpha * sum;
                    if (p->beta != 0) {
                        result = fmaf(p->beta, si_load(p->c, at, p->result_type), result);
                    }
                    si_store(p->c, at, p->result_type, result);
                }
            }
        }
    }
    free(row);
    free(columns);
    return SI_OK;
}

int si_gemm(si_stream *stream, const si_product *product) { return si_push(stream, run_gemm, product, sizeof *product); }

static int run_reduce(void *argument) {
    si_reduction *r = argument;
    float factors[SI_MAX_INPUTS];
    int64_t index[SI_MAX_INPUTS];
    for (int i = 0; i < r->inputs; i++) {
        factors[i] = r->factor;
    }
    for (int64_t row = 0; row < r->rows; row++) {
        for (int64_t column = 0; column < r->columns; column++) {
            for (int i = 0; i < r->inputs; i++) {
                index[i] = row * r->pitch[i] + column;
            }
            reduce_element(r->to, row * r->to_pitch + column, r->output_type, r->from, index, r->inputs, r->input_type, r->op, factors);
        }
    }
    return SI_OK;
}

int si_reduce(si_stream *stream, const si_reduction *reduction) {
    si_count("reductions");
    return si_push(stream, run_reduce, reduction, sizeof *reduction);
}

// ---------------------------------------------------------------------------------------------------------------------
// Collectives

// A meeting of all ranks, which comes again with every launch of a graph.
typedef struct meeting {
    int arrived;
    long round;
    si_part parts[SI_MAX_RANKS];
    struct meeting *next;
    long number;
    int issued;
} meeting;

typedef struct posted {
    int from, to;
    const void *source;
    void *target;
    size_t bytes;
    int has_source, has_target;
    int done;
    int waiting; // sides that still look at it
    struct posted *next;
} posted;

struct si_comm {
    unsigned char id[128];
    int ranks;
    int members;
    int aborted;
    long issued[SI_MAX_RANKS];
    meeting *meetings;
    posted *posts;
    si_comm *next;
};

static si_comm *comms;

si_comm *si_comm_find(const void *id, size_t id_bytes, int ranks) {
    pthread_mutex_lock(&lock);
    si_comm *comm = comms;
    while (comm && memcmp(comm->id, id, id_bytes) != 0) {
        comm = comm->next;
    }
    if (!comm) {
        comm = calloc(1, sizeof *comm);
        memcpy(comm->id, id, id_bytes);
        comm->ranks = ranks;
        comm->next = comms;
        comms = comm;
    }
    comm->members++;
    pthread_mutex_unlock(&lock);
    return comm;
}

void si_comm_leave(si_comm *comm) {
    pthread_mutex_lock(&lock);
    if (--comm->members == 0) {
        for (si_comm **at = &comms; *at; at = &(*at)->next) {
            if (*at == comm) {
                *at = comm->next;
                break;
            }
        }
        // Graphs may still hold meetings; a communicator is small, so it stays.
    }
    pthread_mutex_unlock(&lock);
}

void si_comm_abort(si_comm *comm) {
    pthread_mutex_lock(&lock);
    comm->aborted = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int si_comm_size(si_comm *comm) { return comm->ranks; }

static void perform(si_comm *comm, meeting *m) {
    int n = comm->ranks;
    si_part *first = &m->parts[0];
    size_t element = si_element_bytes(first->type);
    int64_t count = first->count;
    const void *from[SI_MAX_RANKS];
    int64_t index[SI_MAX_RANKS];
    float factors[SI_MAX_RANKS];
    for (int r = 0; r < n; r++) {
        from[r] = m->parts[r].from;
        factors[r] = first->op == SI_AVG ? 1.0f / n : m->parts[r].factor;
    }
    switch (first->kind) {
        case SI_ALL_GATHER: {
            // Through a copy, as ranks may work in place.
            char *all = malloc(n * count * element + 1);
            for (int r = 0; r < n; r++) {
                memcpy(all + r * count * element, from[r], count * element);
            }
            for (int r = 0; r < n; r++) {
                memcpy(m->parts[r].to, all, n * count * element);
            }
            free(all);
            break;
        }
        case SI_BROADCAST: {
            for (int r = 0; r < n; r++) {
                if (m->parts[r].to != from[first->root]) {
                    memmove(m->parts[r].to, from[first->root], count * element);
                }
            }
            break;
        }
        default: {
            int64_t blocks = first->kind == SI_REDUCE_SCATTER ? n : 1;
            char *result = malloc(blocks * count * element + 1);
            for (int64_t i = 0; i < blocks * count; i++) {
                for (int r = 0; r < n; r++) {
                    index[r] = i;
                }
                reduce_element(result, i, first->type, from, index, n, first->type, first->op, factors);
            }
            for (int r = 0; r < n; r++) {
                if (first->kind == SI_REDUCE && r != first->root) {
                    continue;
                }
                memcpy(m->parts[r].to, result + (blocks > 1 ? r * count * element : 0), count * element);
            }
            free(result);
        }
    }
}

typedef struct {
    si_comm *comm;
    meeting *meeting;
    int rank;
    si_part part;
} attend_t;

static int run_attend(void *argument) {
    attend_t *a = argument;
    pthread_mutex_lock(&lock);
    meeting *m = a->meeting;
    long round = m->round;
    m->parts[a->rank] = a->part;
    if (++m->arrived == a->comm->ranks) {
        m->arrived = 0;
        pthread_mutex_unlock(&lock);
        perform(a->comm, m);
        pthread_mutex_lock(&lock);
        m->round++;
        pthread_cond_broadcast(&changed);
    } else {
        while (m->round == round && !a->comm->aborted) {
            pthread_cond_wait(&changed, &lock);
        }
    }
    pthread_mutex_unlock(&lock);
    return SI_OK;
}

int si_collective(si_comm *comm, int rank, si_stream *stream, const si_part *part) {
    si_count("collectives");
    pthread_mutex_lock(&lock);
    long number = comm->issued[rank]++;
    meeting *m = comm->meetings;
    while (m && m->number != number) {
        m = m->next;
    }
    if (!m) {
        m = calloc(1, sizeof *m);
        m->number = number;
        m->next = comm->meetings;
        comm->meetings = m;
    }
    if (++m->issued == comm->ranks) { // nobody looks for it any more
        for (meeting **at = &comm->meetings; *at; at = &(*at)->next) {
            if (*at == m) {
                *at = m->next;
                break;
            }
        }
    }
    pthread_mutex_unlock(&lock);
    attend_t a = {comm, m, rank, *part};
    return si_push(stream, run_attend, &a, sizeof a);
}

typedef struct {
    si_comm *comm;
    int rank;
    int count;
    si_transfer transfers[];
} exchange_t;

static int run_exchange(void *argument) {
    exchange_t *e = argument;
    pthread_mutex_lock(&lock);
    posted **mine = calloc(e->count + 1, sizeof *mine);
    for (int i = 0; i < e->count; i++) {
        si_transfer *t = &e->transfers[i];
        int from = t->sends ? e->rank : t->peer;
        int to = t->sends ? t->peer : e->rank;
        posted *p = e->comm->posts;
        posted **end = &e->comm->posts;
        while (p && !(p->from == from && p->to == to && !p->done && (t->sends ? !p->has_source : !p->has_target))) {
            end = &p->next;
            p = p->next;
        }
        if (!p) {
            p = calloc(1, sizeof *p);
            p->from = from;
            p->to = to;
            p->bytes = t->bytes;
            p->waiting = 2;
            *end = p;
        }
        if (t->sends) {
            p->source = t->data;
            p->has_source = 1;
        } else {
            p->target = t->data;
            p->has_target = 1;
        }
        mine[i] = p;
        if (p->has_source && p->has_target) {
            memmove(p->target, p->source, p->bytes);
            p->done = 1;
            pthread_cond_broadcast(&changed);
        }
    }
    for (int i = 0; i < e->count; i++) {
        while (!mine[i]->done && !e->comm->aborted) {
            pthread_cond_wait(&changed, &lock);
        }
        if (mine[i]->done && --mine[i]->waiting == 0) {
            for (posted **at = &e->comm->posts; *at; at = &(*at)->next) {
                if (*at == mine[i]) {
                    *at = mine[i]->next;
                    free(mine[i]);
                    break;
                }
            }
        }
    }
    free(mine);
    pthread_mutex_unlock(&lock);
    return SI_OK;
}

int si_transfers(si_comm *comm, int rank, si_stream *stream, const si_transfer *transfers, int count) {
    si_count("collectives");
    size_t bytes = sizeof(exchange_t) + count * sizeof *transfers;
    exchange_t *e = malloc(bytes);
    e->comm = comm;
    e->rank = rank;
    e->count = count;
    memcpy(e->transfers, transfers, count * sizeof *transfers);
    int code = si_push(stream, run_exchange, e, bytes);
    free(e);
    return code;
}
