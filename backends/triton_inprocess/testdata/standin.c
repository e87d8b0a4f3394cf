// A stand-in of libtritonserver: the functions that the backend calls, under their names and with their signatures. A model
// is a script that says what becomes of each of its requests; all else is as Triton has it: requests, responses, outputs and
// errors have owners, callbacks come on threads of its own, and nothing is copied before a worker reads it.
//
// It is not: an inference server. It looks at who uses it: what lives is counted, and so is what is used after its end.
//
//   script = *( step LF )            ; file NAME of the model repository, of the model NAME
//   step   = "now"                   ; what follows happens in TRITONSERVER_ServerInferAsync, before that returns
//          / "refuse" SP TEXT        ; TRITONSERVER_ServerInferAsync gives this error
//          / "sum"                   ; the output is the sum of the sequence so far; only as the first step
//          / "respond" SP NUMBER     ; so many responses without the final flag
//          / "last"                  ; a response with it
//          / "final"                 ; the flag without a response
//          / "error" SP TEXT         ; a response with an error and the flag
//          / "release"               ; releases the request, else that comes at the end
//          / "wait" SP NUMBER        ; milliseconds
//          / "gate"                  ; waits until standin_open is called
//          / "cancelled"             ; waits until the request is cancelled, then error "cancelled"
//          / "broken" / "long" / "bare" ; responses from here on: outputs cannot be read, are a byte too long, or there are none
//
// -DMAJOR=2 makes it speak another version, -DLACKING leave out a function.
#define _GNU_SOURCE
#include <pthread.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef MAJOR
#define MAJOR 1
#endif
#ifndef MINOR
#define MINOR 34
#endif

// What is counted, in the order of the Go test's names.
enum { SERVERS, OPTIONS, ALLOCATORS, REQUESTS, RESPONSES, BUFFERS, ERRORS, MESSAGES, KINDS };
enum { MAGIC = 0x51A1CE00, WORKERS = 8, MODELS = 32, STEPS = 32, SUMS = 64 };
enum { FINAL = 1, RELEASE_ALL = 1, START = 1, END = 2 };
enum { UNKNOWN, INTERNAL, NOT_FOUND, INVALID, UNAVAILABLE, UNSUPPORTED, EXISTS, CANCELLED };

static _Atomic long live[KINDS], misuse, at_gate;
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_open;

// Every object begins with this. What is deleted stays readable for a while, so that a later use is seen.
typedef struct { uint32_t magic; } Head;
static void *graves[4096];
static pthread_mutex_t graves_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned next_grave;

static void *make(int kind, size_t size) {
  Head *h = calloc(1, size);
  h->magic = MAGIC + kind;
  live[kind]++;
  return h;
}

static bool is(int kind, const void *p) {
  bool right = p && ((const Head *)p)->magic == (uint32_t)(MAGIC + kind);
  if (!right) misuse++;
  return right;
}

static void bury(int kind, void *p) {
  if (!is(kind, p)) return;
  ((Head *)p)->magic = 0;
  live[kind]--;
  pthread_mutex_lock(&graves_lock);
  void *old = graves[next_grave];
  graves[next_grave] = p;
  next_grave = (next_grave + 1) % (sizeof graves / sizeof *graves);
  pthread_mutex_unlock(&graves_lock);
  free(old);
}

typedef struct { Head head; int code; char text[256]; } Error;
typedef struct { Head head; char text[2048]; } Message;
typedef struct { Head head; char repository[1024]; char id[64]; double capability; } Options;
typedef Error *(*Alloc)(void *, const char *, size_t, int, int64_t, void *, void **, void **, int *, int64_t *);
typedef Error *(*Free)(void *, void *, void *, size_t, int, int64_t);
typedef struct { Head head; Alloc alloc; Free release; } Allocator;
typedef struct { char word[16], text[96]; long n; } Step;
typedef struct { char name[64]; int steps; Step step[STEPS]; bool ready; _Atomic long ok, failed; } Model;
typedef struct { bool used; uint64_t id; char text[32]; int32_t sum; } Sum;
typedef struct { char name[64]; int type, dims; int64_t shape[8]; const char *data; size_t size; } Tensor;

typedef struct Server Server;
typedef struct Request {
  Head head;
  Server *server;
  Model *model;
  char id[64], text_id[32], output[64];
  uint64_t number_id, priority, timeout;
  double weight;
  uint32_t flags;
  int inputs;
  Tensor input[4];
  void (*release)(void *, uint32_t, void *), *release_user;
  Allocator *allocator;
  void *allocator_user;
  void (*respond)(void *, uint32_t, void *), *respond_user;
  _Atomic bool cancelled;
  bool released, broken, toolong, bare, summed;
  int32_t sum;
  _Atomic bool inside; // the server has it
  struct Request *next;
} Request;

typedef struct {
  Head head;
  Error *error;
  bool broken, bare;
  Tensor output;
  void *buffer, *user;
  size_t size;
  Allocator *allocator;
} Response;

struct Server {
  Head head;
  char id[64];
  int models;
  Model model[MODELS];
  Sum sum[SUMS];
  pthread_mutex_t lock;
  pthread_cond_t more;
  Request *first, *last;
  bool stop;
  pthread_t worker[WORKERS];
};

static Error *fail(int code, const char *format, ...) {
  Error *e = make(ERRORS, sizeof *e);
  e->code = code;
  va_list args;
  va_start(args, format);
  vsnprintf(e->text, sizeof e->text, format, args);
  va_end(args);
  return e;
}

static void put(char *to, size_t room, const char *from) { snprintf(to, room, "%s", from ? from : ""); }

#include "standin_run.h"

// For the test.

long standin_live(int kind) { return live[kind]; }
long standin_misuse(void) { return misuse; }
long standin_at_gate(void) { return at_gate; }
void standin_open(bool open) {
  pthread_mutex_lock(&gate_lock);
  gate_open = open;
  pthread_cond_broadcast(&gate_moved);
  pthread_mutex_unlock(&gate_lock);
}

// Version, errors, messages.

Error *TRITONSERVER_ApiVersion(uint32_t *major, uint32_t *minor) { *major = MAJOR, *minor = MINOR; return NULL; }
Error *TRITONSERVER_ErrorNew(int code, const char *text) { return fail(code, "%s", text); }
void TRITONSERVER_ErrorDelete(Error *e) { bury(ERRORS, e); }
int TRITONSERVER_ErrorCode(Error *e) { return is(ERRORS, e) ? e->code : 0; }
const char *TRITONSERVER_ErrorMessage(Error *e) { return is(ERRORS, e) ? e->text : ""; }
Error *TRITONSERVER_MessageDelete(Message *m) { bury(MESSAGES, m); return NULL; }
Error *TRITONSERVER_MessageSerializeToJson(Message *m, const char **base, size_t *size) {
  is(MESSAGES, m);
  *base = m->text, *size = strlen(m->text);
  return NULL;
}

// Options, servers.

Error *TRITONSERVER_ServerOptionsNew(Options **o) { *o = make(OPTIONS, sizeof **o); return NULL; }
Error *TRITONSERVER_ServerOptionsDelete(Options *o) { bury(OPTIONS, o); return NULL; }
#define OPTION(NAME, TYPE) \
  Error *TRITONSERVER_ServerOptionsSet##NAME(Options *o, TYPE value) { is(OPTIONS, o); (void)value; return NULL; }
OPTION(LogInfo, bool) OPTION(LogWarn, bool) OPTION(ExitOnError, bool) OPTION(StrictReadiness, bool)
OPTION(BackendDirectory, const char *) OPTION(ModelControlMode, int) OPTION(ExitTimeout, unsigned)
Error *TRITONSERVER_ServerOptionsSetStartupModel(Options *o, const char *name) {
  is(OPTIONS, o);
  return strcmp(name, "bad") ? NULL : fail(INVALID, "no model can be called bad");
}
Error *TRITONSERVER_ServerOptionsSetModelRepositoryPath(Options *o, const char *path) {
  if (is(OPTIONS, o)) put(o->repository, sizeof o->repository, path);
  return NULL;
}
Error *TRITONSERVER_ServerOptionsSetServerId(Options *o, const char *id) {
  if (is(OPTIONS, o)) put(o->id, sizeof o->id, id);
  return NULL;
}
// It takes a double, in another kind of register than all else.
Error *TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(Options *o, double value) {
  if (is(OPTIONS, o)) o->capability = value;
  return value == 7.5 ? NULL : fail(INVALID, "%g is no capability", value);
}

Error *TRITONSERVER_ServerNew(Server **out, Options *o) {
  if (!is(OPTIONS, o)) return fail(INVALID, "no options");
  Server *s = make(SERVERS, sizeof *s);
  put(s->id, sizeof s->id, o->id);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->more, NULL);
  if (!load(s, o->repository)) {
    bury(SERVERS, s);
    return fail(NOT_FOUND, "failed to load all models of %.200s", o->repository);
  }
  for (int i = 0; i < WORKERS; i++) pthread_create(&s->worker[i], NULL, work, s);
  *out = s;
  return NULL;
}

Error *TRITONSERVER_ServerStop(Server *s) {
  if (!is(SERVERS, s)) return NULL;
  pthread_mutex_lock(&s->lock);
  bool before = s->stop;
  s->stop = true;
  pthread_cond_broadcast(&s->more);
  pthread_mutex_unlock(&s->lock);
  for (int i = 0; i < WORKERS && !before; i++) pthread_join(s->worker[i], NULL);
  return NULL;
}
Error *TRITONSERVER_ServerDelete(Server *s) { TRITONSERVER_ServerStop(s); bury(SERVERS, s); return NULL; }
Error *TRITONSERVER_ServerIsLive(Server *s, bool *yes) { *yes = is(SERVERS, s); return NULL; }
Error *TRITONSERVER_ServerIsReady(Server *s, bool *yes) { *yes = is(SERVERS, s); return NULL; }

#include "standin_models.h"

// Allocators, requests.

Error *TRITONSERVER_ResponseAllocatorNew(Allocator **a, Alloc alloc, Free release, void *start) {
  *a = make(ALLOCATORS, sizeof **a);
  (*a)->alloc = alloc, (*a)->release = release;
  return start ? fail(UNSUPPORTED, "a start function") : NULL;
}
Error *TRITONSERVER_ResponseAllocatorDelete(Allocator *a) { bury(ALLOCATORS, a); return NULL; }

Error *TRITONSERVER_InferenceRequestNew(Request **out, Server *s, const char *name, int64_t version) {
  Model *m = is(SERVERS, s) ? find(s, name) : NULL;
  if (!m || !m->ready || version > 1) return fail(NOT_FOUND, "Request for unknown model: '%s' is not found", name);
  Request *r = make(REQUESTS, sizeof *r);
  r->server = s, r->model = m;
  *out = r;
  return NULL;
}
Error *TRITONSERVER_InferenceRequestDelete(Request *r) {
  if (is(REQUESTS, r) && r->inside) misuse++;
  bury(REQUESTS, r);
  return NULL;
}
#ifndef LACKING
Error *TRITONSERVER_InferenceRequestCancel(Request *r) {
  if (!is(REQUESTS, r)) return NULL;
  if (!r->inside) return fail(INTERNAL, "a request can only be cancelled in the server");
  pthread_mutex_lock(&gate_lock);
  r->cancelled = true;
  pthread_cond_broadcast(&gate_moved);
  pthread_mutex_unlock(&gate_lock);
  return NULL;
}
#endif
#define REQUEST(NAME, ARGS, ...) \
  Error *TRITONSERVER_InferenceRequest##NAME ARGS { \
    if (!is(REQUESTS, r) || r->inside) { misuse++; return NULL; } \
    __VA_ARGS__ \
    return NULL; \
  }
REQUEST(SetId, (Request *r, const char *id), put(r->id, sizeof r->id, id);)
REQUEST(SetFlags, (Request *r, uint32_t flags), r->flags = flags;)
REQUEST(SetCorrelationId, (Request *r, uint64_t id), r->number_id = id;)
REQUEST(SetCorrelationIdString, (Request *r, const char *id), put(r->text_id, sizeof r->text_id, id);)
REQUEST(SetPriorityUInt64, (Request *r, uint64_t v), r->priority = v;)
REQUEST(SetTimeoutMicroseconds, (Request *r, uint64_t v), r->timeout = v;)
REQUEST(AddInput, (Request *r, const char *name, int type, const int64_t *shape, uint64_t dims), {
  if (r->inputs == 4 || dims > 8) return fail(INVALID, "too many inputs or dimensions");
  Tensor *t = &r->input[r->inputs++];
  put(t->name, sizeof t->name, name);
  t->type = type, t->dims = (int)dims;
  memcpy(t->shape, shape, dims * sizeof *shape);
})
REQUEST(AppendInputData, (Request *r, const char *name, const void *data, size_t size, int memory, int64_t device), {
  Tensor *t = &r->input[r->inputs - 1];
  if (!r->inputs || strcmp(t->name, name) || memory || device) return fail(INVALID, "input '%s'", name);
  t->data = data, t->size = size;
})
REQUEST(AddRequestedOutput, (Request *r, const char *name), {
  if (strcmp(name, "OUTPUT0") && strcmp(name, "OUTPUT")) return fail(INVALID, "unexpected inference output '%s' for model '%s'", name, r->model->name);
})
REQUEST(SetStringParameter, (Request *r, const char *key, const char *v), {
  if (!strcmp(key, "want") && strcmp(v, "text")) return fail(INVALID, "parameter %s is '%s'", key, v);
})
REQUEST(SetIntParameter, (Request *r, const char *key, int64_t v), {
  if (!strcmp(key, "want") && v != -7) return fail(INVALID, "parameter %s is %ld", key, (long)v);
})
REQUEST(SetBoolParameter, (Request *r, const char *key, bool v), {
  if (!strcmp(key, "want") && !v) return fail(INVALID, "parameter %s is false", key);
})
REQUEST(SetDoubleParameter, (Request *r, const char *key, double v), {
  if (!strcmp(key, "want") && v != 0.25) return fail(INVALID, "parameter %s is %g", key, v);
})
REQUEST(SetReleaseCallback, (Request *r, void (*f)(void *, uint32_t, void *), void *user), r->release = f; r->release_user = user;)
REQUEST(SetResponseCallback, (Request *r, Allocator *a, void *au, void (*f)(void *, uint32_t, void *), void *user), {
  is(ALLOCATORS, a);
  r->allocator = a; r->allocator_user = au; r->respond = f; r->respond_user = user;
})

Error *TRITONSERVER_ServerInferAsync(Server *s, Request *r, void *trace) {
  if (!is(SERVERS, s) || !is(REQUESTS, r) || r->inside || trace || !r->release || !r->respond) { misuse++; return NULL; }
  Error *e = accept_request(r);
  if (e) return e;
  r->inside = true;
  if (r->model->steps && !strcmp(r->model->step[0].word, "now")) {
    run(r, 1);
    return NULL;
  }
  pthread_mutex_lock(&s->lock);
  if (s->last) s->last->next = r; else s->first = r;
  s->last = r;
  pthread_cond_signal(&s->more);
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

// Responses.

Error *TRITONSERVER_InferenceResponseError(Response *p) { return is(RESPONSES, p) ? p->error : NULL; }
Error *TRITONSERVER_InferenceResponseOutputCount(Response *p, uint32_t *count) {
  *count = is(RESPONSES, p) && !p->error && !p->bare;
  return NULL;
}
Error *TRITONSERVER_InferenceResponseOutput(
    Response *p, uint32_t index, const char **name, int *type, const int64_t **shape, uint64_t *dims, const void **base, size_t *size,
    int *memory, int64_t *device, void **user) {
  if (!is(RESPONSES, p) || index || p->broken) return fail(INTERNAL, "the output cannot be read");
  *name = p->output.name, *type = p->output.type, *shape = p->output.shape, *dims = (uint64_t)p->output.dims;
  *base = p->buffer, *size = p->size, *memory = 0, *device = 0, *user = p->user;
  return NULL;
}
Error *TRITONSERVER_InferenceResponseDelete(Response *p) {
  if (!is(RESPONSES, p)) return NULL;
  if (p->error) bury(ERRORS, p->error);
  if (p->size) {
    p->allocator->release(p->allocator, p->buffer, p->user, p->size, 0, 0);
    live[BUFFERS]--;
  }
  bury(RESPONSES, p);
  return NULL;
}
