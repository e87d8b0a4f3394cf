// A stand-in of NVIDIA's driver: what this program uses of libcuda.so.1, for a machine without a GPU.
//
// The memory of a GPU is shared memory of the system, whose name is the handle of a region. Every call is a line of the
// file "calls" beside the library; the other files there are read at every call:
//
//   fail     FUNCTION NTH CODE   the NTH call of FUNCTION ("*": of any) in "calls" gives CODE; NTH 0: every one does
//   devices  N                   GPUs there are, else 2
//
// It is strict where the driver is: what needs a context fails on a thread that has none, or that of another GPU.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };
enum { GPUS = 8, REGIONS = 4096, DEPTH = 64, HANDLE = 64 };
static const size_t memory = 64 << 20; // of one GPU

static struct { int code; const char *name, *text; } errors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

typedef struct { int held; } context;
typedef struct { int device; size_t size; char *bytes; char name[HANDLE]; } region;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int started;
static context contexts[GPUS];
static region regions[REGIONS + 1]; // from 1 on
static __thread context *current[DEPTH];
static __thread int depth;

// file opens one beside the library.
static FILE *file(const char *name, const char *mode) {
  Dl_info self;
  char path[4096];
  if (!dladdr((void *)file, &self) || !self.dli_fname) return NULL;
  const char *end = strrchr(self.dli_fname, '/');
  if (!end) return NULL;
  snprintf(path, sizeof path, "%.*s/%s", (int)(end - self.dli_fname), self.dli_fname, name);
  return fopen(path, mode);
}

// before is how many calls of a function "calls" has.
static int before(const char *function) {
  FILE *f = file("calls", "r");
  char line[256];
  int n = 0;
  size_t length = strlen(function);
  if (!f) return 0;
  while (fgets(line, sizeof line, f)) n += !strncmp(line, "cu", 2) && (!strcmp(function, "*") || (!strncmp(line, function, length) && line[length] == '('));
  fclose(f);
  return n;
}

// planned is the code that "fail" has for this call.
static int planned(const char *function) {
  FILE *f = file("fail", "r");
  char name[64];
  int nth, code, found = OK;
  if (!f) return OK;
  while (found == OK && fscanf(f, "%63s %d %d", name, &nth, &code) == 3)
    if ((!strcmp(name, "*") || !strcmp(name, function)) && (nth == 0 || before(name) == nth - 1)) found = code;
  fclose(f);
  return found;
}

static const char *nameOf(int code) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code) return errors[i].name;
  return NULL;
}

// note writes a call down, gives its code, and ends it. What follows the arguments is the result of one that went well.
static int note(int code, const char *function, const char *result, const char *format, ...) {
  FILE *f = file("calls", "a");
  if (f) {
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const char *name = nameOf(code), *end = code == OK ? result : name ? name : "unknown";
    fprintf(f, "%s(%s)%s%s\n", function, line, *end ? " " : "", end);
    fclose(f);
  }
  pthread_mutex_unlock(&lock);
  return code;
}

// begin begins a call: the code that it is to give, if any.
static int begin(const char *function) {
  pthread_mutex_lock(&lock);
  int code = planned(function);
  return code == OK && !started && strcmp(function, "cuInit") ? NOT_INITIALIZED : code;
}

static int gpus(void) {
  int n = 2;
  FILE *f = file("devices", "r");
  if (!f) return n;
  if (fscanf(f, "%d", &n) != 1 || n > GPUS) n = 0;
  fclose(f);
  return n;
}

// here is the GPU of the thread's context, -1 for none.
static int here(void) { return depth == 0 || current[depth - 1]->held == 0 ? -1 : (int)(current[depth - 1] - contexts); }

// An address of a GPU says which region it is in, and means nothing to the processor.
static uint64_t address(int id) { return (uint64_t)id << 44; }

// find is the region that n bytes at an address are of: 0 for none.
static int find(uint64_t at, size_t n, size_t *offset) {
  int id = (int)(at >> 44);
  *offset = at & ((1ull << 44) - 1);
  if (id < 1 || id > REGIONS || !regions[id].size || *offset > regions[id].size || n > regions[id].size - *offset) return 0;
  return id;
}

int cuInit(unsigned flags) {
  int code = begin("cuInit");
  if (code == OK && flags) code = INVALID_VALUE;
  if (code == OK) started = 1;
  return note(code, "cuInit", "", "%u", flags);
}

int cuDeviceGetCount(int *n) {
  int code = begin("cuDeviceGetCount");
  char text[16] = "";
  if (code == OK && !n) code = INVALID_VALUE;
  if (code == OK) snprintf(text, sizeof text, "%d", *n = gpus());
  return note(code, "cuDeviceGetCount", text, "");
}

int cuDeviceGet(int *device, int number) {
  int code = begin("cuDeviceGet");
  if (code == OK && (number < 0 || number >= gpus())) code = INVALID_DEVICE;
  if (code == OK) *device = number;
  return note(code, "cuDeviceGet", "", "%d", number);
}

int cuDevicePrimaryCtxRetain(context **c, int device) {
  int code = begin("cuDevicePrimaryCtxRetain");
  if (code == OK && (device < 0 || device >= gpus())) code = INVALID_DEVICE;
  if (code == OK) (*c = &contexts[device])->held++;
  return note(code, "cuDevicePrimaryCtxRetain", "", "%d", device);
}

static void drop(int id) {
  shm_unlink(regions[id].name);
  munmap(regions[id].bytes, regions[id].size);
  memset(&regions[id], 0, sizeof regions[id]);
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  int code = begin("cuDevicePrimaryCtxRelease_v2");
  if (code == OK && (device < 0 || device >= gpus() || !contexts[device].held)) code = INVALID_CONTEXT;
  if (code != INVALID_CONTEXT && code != NOT_INITIALIZED && --contexts[device].held == 0) // a planned failure is one of earlier work, which comes to light here
    for (int id = 1; id <= REGIONS; id++)
      if (regions[id].size && regions[id].device == device) drop(id);
  return note(code, "cuDevicePrimaryCtxRelease_v2", "", "%d", device);
}

int cuCtxPushCurrent_v2(context *c) {
  int code = begin("cuCtxPushCurrent_v2");
  if (code == OK && (!c || !c->held || depth == DEPTH)) code = INVALID_CONTEXT;
  if (code == OK) current[depth++] = c;
  return note(code, "cuCtxPushCurrent_v2", "", "gpu%d", c ? (int)(c - contexts) : -1);
}

int cuCtxPopCurrent_v2(context **c) {
  int code = begin("cuCtxPopCurrent_v2");
  if (code == OK && !depth) code = INVALID_CONTEXT;
  if (code == OK) *c = current[--depth];
  return note(code, "cuCtxPopCurrent_v2", "", "");
}

int cuCtxSynchronize(void) {
  int code = begin("cuCtxSynchronize");
  if (code == OK && here() < 0) code = INVALID_CONTEXT;
  return note(code, "cuCtxSynchronize", "", "");
}

static size_t taken(int device) {
  size_t n = 0;
  for (int id = 1; id <= REGIONS; id++)
    if (regions[id].device == device) n += regions[id].size;
  return n;
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
  int code = begin("cuMemGetInfo_v2");
  if (code == OK && here() < 0) code = INVALID_CONTEXT;
  if (code == OK) *free = memory - taken(here()), *total = memory;
  return note(code, "cuMemGetInfo_v2", "", "");
}

int cuMemAlloc_v2(uint64_t *at, size_t size) {
  int code = begin("cuMemAlloc_v2"), id = 1;
  char text[16] = "";
  if (code == OK && here() < 0) code = INVALID_CONTEXT;
  if (code == OK && !size) code = INVALID_VALUE;
  if (code == OK && size > memory - taken(here())) code = OUT_OF_MEMORY;
  while (id <= REGIONS && regions[id].size) id++;
  if (code == OK && id > REGIONS) code = OUT_OF_MEMORY;
  if (code == OK) {
    region *r = &regions[id];
    snprintf(r->name, sizeof r->name, "/sluice-gpu-%d-%d", getpid(), id);
    int fd = shm_open(r->name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size) || (r->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED) abort();
    close(fd);
    memset(r->bytes, 0xee, size); // what the GPU had there
    r->size = size, r->device = here();
    *at = address(id);
    snprintf(text, sizeof text, "r%d", id);
  }
  return note(code, "cuMemAlloc_v2", text, "%zu", size);
}

int cuMemFree_v2(uint64_t at) {
  size_t offset;
  int code = begin("cuMemFree_v2"), id = find(at, 0, &offset);
  if (code == OK && (!id || offset)) code = INVALID_VALUE;
  if (code == OK && here() != regions[id].device) code = INVALID_CONTEXT;
  if (code == OK) drop(id);
  return note(code, "cuMemFree_v2", "", "r%d", id);
}

int cuMemsetD8_v2(uint64_t at, unsigned char value, size_t n) {
  size_t offset;
  int code = begin("cuMemsetD8_v2"), id = find(at, n, &offset);
  if (code == OK && !id) code = INVALID_VALUE;
  if (code == OK && here() != regions[id].device) code = INVALID_CONTEXT;
  if (code == OK) memset(regions[id].bytes + offset, value, n);
  return note(code, "cuMemsetD8_v2", "", "r%d+%zu, %d, %zu", id, offset, value, n);
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) {
  size_t offset;
  int code = begin("cuMemcpyHtoD_v2"), id = find(to, n, &offset);
  if (code == OK && (!id || !from)) code = INVALID_VALUE;
  if (code == OK && here() != regions[id].device) code = INVALID_CONTEXT;
  if (code == OK) memcpy(regions[id].bytes + offset, from, n);
  return note(code, "cuMemcpyHtoD_v2", "", "r%d+%zu, %zu", id, offset, n);
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) {
  size_t offset;
  int code = begin("cuMemcpyDtoH_v2"), id = find(from, n, &offset);
  if (code == OK && (!id || !to)) code = INVALID_VALUE;
  if (code == OK && here() != regions[id].device) code = INVALID_CONTEXT;
  if (code == OK) memcpy(to, regions[id].bytes + offset, n);
  return note(code, "cuMemcpyDtoH_v2", "", "r%d+%zu, %zu", id, offset, n);
}

int cuIpcGetMemHandle(char handle[HANDLE], uint64_t at) {
  size_t offset;
  int code = begin("cuIpcGetMemHandle"), id = find(at, 0, &offset);
  if (code == OK && (!id || !handle)) code = INVALID_VALUE;
  if (code == OK && here() != regions[id].device) code = INVALID_CONTEXT;
  if (code == OK) memcpy(handle, regions[id].name, HANDLE);
  return note(code, "cuIpcGetMemHandle", "", "r%d", id);
}

int cuGetErrorName(int code, const char **name) {
  *name = nameOf(code);
  return *name ? OK : INVALID_VALUE;
}

int cuGetErrorString(int code, const char **text) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code) return *text = errors[i].text, OK;
  *text = NULL;
  return INVALID_VALUE;
}
