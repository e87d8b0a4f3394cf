// What becomes of a request: the part of the stand-in that plays scripts. Included by standin.c only.

static Model *find(Server *s, const char *name) {
  for (int i = 0; i < s->models; i++)
    if (!strcmp(s->model[i].name, name)) return &s->model[i];
  return NULL;
}

// load reads the scripts of a repository.
static bool load(Server *s, const char *path) {
  DIR *dir = opendir(path);
  if (!dir) return false;
  for (struct dirent *d; (d = readdir(dir)) && s->models < MODELS;) {
    char name[1400], line[160];
    snprintf(name, sizeof name, "%s/%s", path, d->d_name);
    FILE *f = d->d_type == DT_REG ? fopen(name, "r") : NULL;
    if (!f) continue;
    Model *m = &s->model[s->models++];
    put(m->name, sizeof m->name, d->d_name);
    m->ready = true;
    while (m->steps < STEPS && fgets(line, sizeof line, f)) {
      Step *step = &m->step[m->steps++];
      sscanf(line, "%15s %95[^\n]", step->word, step->text);
      step->n = atol(step->text);
    }
    fclose(f);
  }
  closedir(dir);
  return true;
}

// reply sends one response; error NULL: with the output, which is the first input or the sum of a sequence.
static void reply(Request *r, Error *error, uint32_t flags) {
  Response *p = make(RESPONSES, sizeof *p);
  p->error = error, p->broken = r->broken, p->bare = r->bare, p->allocator = r->allocator;
  if (!error) {
    p->output = r->input[0];
    snprintf(p->output.name, sizeof p->output.name, "OUTPUT%s", r->input[0].name + strlen("INPUT"));
    const void *from = r->summed ? (const void *)&r->sum : r->input[0].data;
    size_t size = r->summed ? sizeof r->sum : r->input[0].size;
    p->size = size + r->toolong;
    int memory = 0;
    int64_t device = 0;
    Error *e = r->allocator->alloc(r->allocator, p->output.name, p->size, 0, 0, r->allocator_user, &p->buffer, &p->user, &memory, &device);
    if (e || memory || device) misuse++;
    if (p->size) live[BUFFERS]++;
    memcpy(p->buffer, from, size);
    if (r->toolong) ((char *)p->buffer)[size] = 0;
  }
  r->respond(p, flags, r->respond_user);
}

static void pause_ms(long n) { nanosleep(&(struct timespec){.tv_sec = n / 1000, .tv_nsec = n % 1000 * 1000000}, NULL); }

// await waits until the gate is open, or, with cancel, the request is cancelled.
static void await(Request *r, bool cancel) {
  pthread_mutex_lock(&gate_lock);
  at_gate++;
  while (cancel ? !r->cancelled : !gate_open) pthread_cond_wait(&gate_moved, &gate_lock);
  at_gate--;
  pthread_mutex_unlock(&gate_lock);
}

// let_go releases a request. Who has it then may delete it at once.
static void let_go(Request *r) {
  if (r->released) return;
  r->released = true;
  r->release(r, RELEASE_ALL, r->release_user);
}

static void run(Request *r, int from) {
  Model *m = r->model;
  bool good = true, finished = false, released = false;
  for (int i = from; i < m->steps; i++) {
    const Step *s = &m->step[i];
    if (!strcmp(s->word, "respond")) for (long k = 0; k < s->n; k++) reply(r, NULL, 0);
    else if (!strcmp(s->word, "wait")) pause_ms(s->n);
    else if (!strcmp(s->word, "gate")) await(r, false);
    else if (!strcmp(s->word, "broken")) r->broken = true;
    else if (!strcmp(s->word, "long")) r->toolong = true;
    else if (!strcmp(s->word, "bare")) r->bare = true;
    else if (!strcmp(s->word, "cancelled")) await(r, true), good = false;
    else if (!strcmp(s->word, "error")) good = false;
    // What ends the request: it can be deleted with the second of final flag and release, and not be touched after.
    bool ends = !strcmp(s->word, "last") || !strcmp(s->word, "final") || !strcmp(s->word, "error") || !strcmp(s->word, "cancelled");
    if (ends) {
      if (good) m->ok++; else m->failed++;
      finished = true;
      if (released) r->inside = false;
      if (!strcmp(s->word, "last")) reply(r, NULL, FINAL);
      else if (!strcmp(s->word, "final")) r->respond(NULL, FINAL, r->respond_user);
      else reply(r, fail(good ? UNKNOWN : *s->text ? INTERNAL : CANCELLED, "%s", *s->text ? s->text : "cancelled"), FINAL);
    } else if (!strcmp(s->word, "release")) {
      released = true;
      if (finished) r->inside = false;
      let_go(r);
    }
    if (finished && released) return;
  }
  if (released) return;
  r->inside = false;
  let_go(r);
}

// accept_request refuses a request, or takes its step of a sequence.
static Error *accept_request(Request *r) {
  Model *m = r->model;
  const char *word = m->steps ? m->step[0].word : "";
  if (!strcmp(word, "refuse")) return fail(UNAVAILABLE, "%s", m->step[0].text);
  if (r->inputs == 0) return fail(INVALID, "expected 1 inputs but got 0 inputs for model '%s'", m->name);
  if (strcmp(word, "sum")) return NULL;
  Server *s = r->server;
  if (!r->number_id && !*r->text_id) return fail(INVALID, "inference request to model '%s' must specify a non-zero or non-empty correlation ID", m->name);
  pthread_mutex_lock(&s->lock);
  Sum *at = NULL;
  for (int i = 0; i < SUMS && !at; i++)
    if (s->sum[i].used && s->sum[i].id == r->number_id && !strcmp(s->sum[i].text, r->text_id)) at = &s->sum[i];
  for (int i = 0; i < SUMS && !at && r->flags & START; i++)
    if (!s->sum[i].used) at = &s->sum[i];
  if (at) {
    if (r->flags & START) *at = (Sum){.used = true, .id = r->number_id}, put(at->text, sizeof at->text, r->text_id);
    int32_t v;
    memcpy(&v, r->input[0].data, sizeof v);
    r->sum = at->sum += v;
    r->summed = true;
    if (r->flags & END) at->used = false;
  }
  pthread_mutex_unlock(&s->lock);
  return at ? NULL : fail(INVALID, "inference request for sequence %lu to model '%s' must specify the START flag on the first request of the sequence", (unsigned long)r->number_id, m->name);
}

static void *work(void *p) {
  Server *s = p;
  for (;;) {
    pthread_mutex_lock(&s->lock);
    while (!s->first && !s->stop) pthread_cond_wait(&s->more, &s->lock);
    Request *r = s->first;
    if (r && !(s->first = r->next)) s->last = NULL;
    pthread_mutex_unlock(&s->lock);
    if (!r) return NULL;
    run(r, 0);
  }
}
