#define traced(kind, r, value)
#define traced_entries(t)
