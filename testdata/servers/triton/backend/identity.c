// A Triton backend in C that copies every input INPUTk to the output OUTPUTk. It is the fast and stable model of the
// conformance runs: the Python backend tops out at a few thousand requests a second. With the parameter execute_delay_ms in
// the model's configuration each execution first sleeps so long.
//
// It is built without Triton's headers: the prototypes below are the part of the public TRITONBACKEND C API, version 1,
// that is used here. Every call is checked; what fails is answered to the client as an error of that request.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct TRITONSERVER_Error TRITONSERVER_Error;
typedef struct TRITONSERVER_Message TRITONSERVER_Message;
typedef struct TRITONBACKEND_Backend TRITONBACKEND_Backend;
typedef struct TRITONBACKEND_Model TRITONBACKEND_Model;
typedef struct TRITONBACKEND_Input TRITONBACKEND_Input;
typedef struct TRITONBACKEND_Output TRITONBACKEND_Output;
typedef struct TRITONBACKEND_Request TRITONBACKEND_Request;
typedef struct TRITONBACKEND_Response TRITONBACKEND_Response;
typedef struct TRITONBACKEND_ModelInstance TRITONBACKEND_ModelInstance;

enum { MEMORY_CPU = 0 };          // TRITONSERVER_MEMORY_CPU
enum { ERROR_INTERNAL = 1 };      // TRITONSERVER_ERROR_INTERNAL
enum { ERROR_INVALID_ARG = 3 };   // TRITONSERVER_ERROR_INVALID_ARG
enum { ERROR_UNSUPPORTED = 5 };   // TRITONSERVER_ERROR_UNSUPPORTED
enum { RELEASE_ALL = 1 };         // TRITONSERVER_REQUEST_RELEASE_ALL
enum { RESPONSE_FINAL = 1 };      // TRITONSERVER_RESPONSE_COMPLETE_FINAL
enum { API_MAJOR = 1 };

TRITONSERVER_Error* TRITONSERVER_ErrorNew(int code, const char* message);
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error);
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error);
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message, const char** base, size_t* size);
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message);
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model, uint32_t version,
                                              TRITONSERVER_Message** config);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance, void** state);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance, void* state);
TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor);
TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request, uint32_t* count);
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request, uint32_t index,
                                                      TRITONBACKEND_Input** input);
TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name, int* datatype,
                                                  const int64_t** shape, uint32_t* dims_count, uint64_t* byte_size,
                                                  uint32_t* buffer_count);
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, uint32_t index, const void** buffer,
                                              uint64_t* byte_size, int* memory_type, int64_t* memory_type_id);
TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response, TRITONBACKEND_Request* request);
TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response);
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response, TRITONBACKEND_Output** output,
                                                 const char* name, int datatype, const int64_t* shape,
                                                 uint32_t dims_count);
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer, uint64_t byte_size,
                                               int* memory_type, int64_t* memory_type_id);
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response, uint32_t flags,
                                               TRITONSERVER_Error* error);
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(TRITONBACKEND_ModelInstance* instance,
                                                                TRITONBACKEND_Request* request, bool success,
                                                                uint64_t exec_start_ns, uint64_t compute_start_ns,
                                                                uint64_t compute_end_ns, uint64_t exec_end_ns);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(TRITONBACKEND_ModelInstance* instance,
                                                                     uint64_t batch_size, uint64_t exec_start_ns,
                                                                     uint64_t compute_start_ns,
                                                                     uint64_t compute_end_ns, uint64_t exec_end_ns);

#define TRY(call)                             \
  do {                                        \
    TRITONSERVER_Error* try_error = (call);   \
    if (try_error != NULL) return try_error;  \
  } while (0)

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

// report prints and frees an error that cannot be answered to anybody.
static void report(const char* what, TRITONSERVER_Error* error) {
  if (error == NULL) return;
  fprintf(stderr, "identity backend: %s: %s\n", what, TRITONSERVER_ErrorMessage(error));
  TRITONSERVER_ErrorDelete(error);
}

// copy_input writes one input, which may lie in several buffers, as the output of the same number.
static TRITONSERVER_Error* copy_input(TRITONBACKEND_Input* input, TRITONBACKEND_Response* response, uint64_t* rows) {
  const char* name = NULL;
  int datatype = 0;
  const int64_t* shape = NULL;
  uint32_t dims = 0, buffers = 0;
  uint64_t size = 0;
  TRY(TRITONBACKEND_InputProperties(input, &name, &datatype, &shape, &dims, &size, &buffers));
  if (strncmp(name, "INPUT", 5) != 0) {
    return TRITONSERVER_ErrorNew(ERROR_INVALID_ARG, "inputs must be called INPUT0, INPUT1 and so on");
  }
  char output_name[64];
  int written = snprintf(output_name, sizeof output_name, "OUTPUT%s", name + 5);
  if (written < 0 || (size_t)written >= sizeof output_name) {
    return TRITONSERVER_ErrorNew(ERROR_INVALID_ARG, "the name of an input is too long");
  }
  if (dims > 0) *rows = (uint64_t)shape[0];

  TRITONBACKEND_Output* output = NULL;
  TRY(TRITONBACKEND_ResponseOutput(response, &output, output_name, datatype, shape, dims));
  void* to = NULL;
  int memory = MEMORY_CPU;
  int64_t device = 0;
  TRY(TRITONBACKEND_OutputBuffer(output, &to, size, &memory, &device));
  if (memory != MEMORY_CPU && memory != 1 /* pinned */) {
    return TRITONSERVER_ErrorNew(ERROR_UNSUPPORTED, "outputs must lie in CPU memory");
  }
  uint64_t at = 0;
  for (uint32_t b = 0; b < buffers; b++) {
    const void* from = NULL;
    uint64_t part = 0;
    TRY(TRITONBACKEND_InputBuffer(input, b, &from, &part, &memory, &device));
    if (memory != MEMORY_CPU && memory != 1) {
      return TRITONSERVER_ErrorNew(ERROR_UNSUPPORTED, "inputs must lie in CPU memory");
    }
    if (part > size - at) {
      return TRITONSERVER_ErrorNew(ERROR_INTERNAL, "the buffers of an input are larger than the input");
    }
    memcpy((char*)to + at, from, part);
    at += part;
  }
  if (at != size) {
    return TRITONSERVER_ErrorNew(ERROR_INTERNAL, "the buffers of an input are smaller than the input");
  }
  return NULL;
}

// fill copies all inputs of a request into its response.
static TRITONSERVER_Error* fill(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response, uint64_t* rows) {
  uint32_t count = 0;
  TRY(TRITONBACKEND_RequestInputCount(request, &count));
  for (uint32_t i = 0; i < count; i++) {
    TRITONBACKEND_Input* input = NULL;
    TRY(TRITONBACKEND_RequestInputByIndex(request, i, &input));
    TRY(copy_input(input, response, rows));
  }
  return NULL;
}

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  (void)backend;
  uint32_t major = 0, minor = 0;
  TRY(TRITONBACKEND_ApiVersion(&major, &minor));
  if (major != API_MAJOR) {
    return TRITONSERVER_ErrorNew(ERROR_UNSUPPORTED, "this backend is for version 1 of the backend API");
  }
  return NULL;
}

// delay_of reads execute_delay_ms, a whole number, from a configuration; 0 where there is none. The server writes it without
// spaces.
static long delay_of(const char* config, size_t size) {
  static const char key[] = "\"execute_delay_ms\":{\"string_value\":\"";
  const size_t length = sizeof key - 1;
  for (size_t i = 0; i + length < size; i++) {
    if (memcmp(config + i, key, length) == 0) return strtol(config + i + length, NULL, 10); // ends at the quote
  }
  return 0;
}

// The state of an instance is its delay, ms.
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = NULL;
  TRITONSERVER_Message* config = NULL;
  const char* text = NULL;
  size_t size = 0;
  TRY(TRITONBACKEND_ModelInstanceModel(instance, &model));
  TRY(TRITONBACKEND_ModelConfig(model, 1, &config));
  TRITONSERVER_Error* failed = TRITONSERVER_MessageSerializeToJson(config, &text, &size);
  const long delay = failed == NULL ? delay_of(text, size) : 0;
  report("configuration", TRITONSERVER_MessageDelete(config));
  TRY(failed);
  return TRITONBACKEND_ModelInstanceSetState(instance, (void*)(intptr_t)delay);
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests, const uint32_t count) {
  uint64_t batch = 0;
  const uint64_t batch_start = now_ns();
  void* state = NULL;
  report("state", TRITONBACKEND_ModelInstanceState(instance, &state));
  if (state != NULL) {
    const long ms = (long)(intptr_t)state;
    const struct timespec delay = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&delay, NULL);
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t start = i == 0 ? batch_start : now_ns();
    uint64_t rows = 1;
    TRITONBACKEND_Response* response = NULL;
    TRITONSERVER_Error* failed = TRITONBACKEND_ResponseNew(&response, requests[i]);
    if (failed != NULL) {
      report("no response for a request", failed);
    } else {
      failed = fill(requests[i], response, &rows);
      const bool ok = failed == NULL;
      report("send", TRITONBACKEND_ResponseSend(response, RESPONSE_FINAL, failed));
      if (failed != NULL) TRITONSERVER_ErrorDelete(failed);
      const uint64_t end = now_ns();
      report("statistics",
             TRITONBACKEND_ModelInstanceReportStatistics(instance, requests[i], ok, start, start, end, end));
    }
    batch += rows;
    report("release", TRITONBACKEND_RequestRelease(requests[i], RELEASE_ALL));
  }
  const uint64_t batch_end = now_ns();
  report("batch statistics", TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, batch, batch_start, batch_start,
                                                                              batch_end, batch_end));
  return NULL;
}
