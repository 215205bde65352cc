comment on column lanefold.audit.no is 'the key, ascending';
comment on column lanefold.audit.at is 'when the action was carried out';
comment on column lanefold.audit.tenant_id is 'the tenant of the key that acted, else the tenant concerned, if any';
comment on column lanefold.audit.actor is '`operator`, `key:<id>`, `token:<id of the key>`, `cli:<user>`, `code` (the schedules of a program), `lanefold` (a webhook paused by itself) or `sql:<role>`';
comment on column lanefold.audit.action is 'the operation of the API, such as `approveToolCall`, or `keys.create`, `keys.rotate`, `keys.revoke`';
comment on column lanefold.audit.thread_id is 'the thread concerned';
comment on column lanefold.audit.run_id is 'the run concerned';
comment on column lanefold.audit.detail is 'depends on the action. Of a limit, `old` and `new` have the columns of `limit_usage`. Of a webhook, it has the origin of the URL';
