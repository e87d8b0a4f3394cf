// What is asked about models, and done to them: a part of the stand-in. Included by standin.c only.

Error *TRITONSERVER_ServerModelIsReady(Server *s, const char *name, int64_t version, bool *yes) {
  Model *m = find(s, name);
  *yes = m && m->ready && version <= 1;
  return m ? NULL : fail(NOT_FOUND, "unknown model '%s'", name);
}
Error *TRITONSERVER_ServerLoadModel(Server *s, const char *name) {
  Model *m = find(s, name);
  if (m) m->ready = true;
  return m ? NULL : fail(NOT_FOUND, "failed to load '%s', no such model", name);
}
Error *TRITONSERVER_ServerUnloadModel(Server *s, const char *name) {
  Model *m = find(s, name);
  if (m) m->ready = false;
  return m ? NULL : fail(NOT_FOUND, "failed to unload '%s'", name);
}
static Error *say(Message **out, const char *format, ...) {
  *out = make(MESSAGES, sizeof **out);
  va_list args;
  va_start(args, format);
  vsnprintf((*out)->text, sizeof (*out)->text, format, args);
  va_end(args);
  return NULL;
}
Error *TRITONSERVER_ServerMetadata(Server *s, Message **out) {
  return say(out, "{\"name\":\"%s\",\"version\":\"1\",\"extensions\":[\"statistics\"]}", s->id);
}
static bool keeps(const Model *m) { return !strncmp(m->name, "sequence", 8); }
static const char *tail(const Model *m) { return keeps(m) ? "" : "0"; }
Error *TRITONSERVER_ServerModelIndex(Server *s, uint32_t flags, Message **out) {
  char text[2048] = "", *at = text;
  for (int i = 0; i < s->models; i++) {
    Model *m = &s->model[i];
    at += snprintf(at, text + sizeof text - at, "%s{\"name\":\"%s\",\"version\":\"1\",\"state\":\"%s\"%s}", i ? "," : "", m->name, m->ready ? "READY" : "UNAVAILABLE",
                   m->ready ? "" : ",\"reason\":\"Internal: unloaded,\\n\\nas asked\"");
  }
  return say(out, "[%s,{\"name\":\"never\"}]", text);
}
Error *TRITONSERVER_ServerModelMetadata(Server *s, const char *name, int64_t version, Message **out) {
  Model *m = find(s, name);
  if (!m || version > 1) return fail(NOT_FOUND, "unknown model '%s'", name);
  return say(out,
             "{\"name\":\"%s\",\"versions\":[\"1\"],\"platform\":\"script\",\"inputs\":[{\"name\":\"INPUT%s\",\"datatype\":\"INT32\",\"shape\":[-1,1]}],"
             "\"outputs\":[{\"name\":\"OUTPUT%s\",\"datatype\":\"INT32\",\"shape\":[-1,1]}]}", name, tail(m), tail(m));
}
Error *TRITONSERVER_ServerModelConfig(Server *s, const char *name, int64_t version, uint32_t form, Message **out) {
  Model *m = find(s, name);
  if (!m || version > 1 || form != 1) return fail(NOT_FOUND, "no configuration of '%s'", name);
  bool several = false;
  for (int i = 0; i < m->steps; i++) several |= !strcmp(m->step[i].word, "respond") || !strcmp(m->step[i].word, "final");
  return say(out,
             "{\"name\":\"%s\",\"max_batch_size\":8,\"input\":[{\"name\":\"INPUT%s\"}],\"model_transaction_policy\":{\"decoupled\":%s}%s%s%s}", name, tail(m),
             several ? "true" : "false",
             keeps(m) ? ",\"sequence_batching\":{\"control_input\":[{\"control\":[{\"kind\":\"CONTROL_SEQUENCE_CORRID\",\"data_type\":\"TYPE_" : "",
             !keeps(m) ? "" : strstr(m->name, "string") ? "STRING" : "UINT64", keeps(m) ? "\"}]}]}" : "");
}
Error *TRITONSERVER_ServerModelStatistics(Server *s, const char *name, int64_t version, Message **out) {
  Model *m = find(s, name);
  if (!m || version > 1) return fail(NOT_FOUND, "no statistics of '%s'", name);
  return say(out,
             "{\"model_stats\":[{\"name\":\"%s\",\"version\":\"1\",\"inference_count\":%ld,\"execution_count\":%ld,\"inference_stats\":{"
             "\"success\":{\"count\":%ld,\"ns\":%ld},\"fail\":{\"count\":%ld,\"ns\":0}}}]}", name, m->ok, m->ok, m->ok, m->ok * 1000, m->failed);
}
