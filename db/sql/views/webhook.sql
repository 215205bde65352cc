-- The endpoints of webhooks without their secrets, which the rest of a URL and a template may be as well, and what was sent to them, or will be: also what is still in
-- the outbox, whose ids are spelt out as in _delivery_id: readers have no right to functions.
create or replace view lanefold.webhook as
select w.name, substring(w.url from '^(https?://[^/?#\\@\s]+)(?:[/?#]|$)') as url, w.types, w.agents, w.ordered, w.include_result, w.paused_at, w.paused_reason, w.failures, w.failing_since, w.dropped, w.version,
       w.created_at, w.updated_at, w.updated_by, w.id, w.tenant_id, w.template is not null as templated
from lanefold._webhook w where w.removed_at is null;

create or replace view lanefold.webhook_delivery as
select w.name as webhook, d.thread_id, d.id, d.type, d.status, d.attempts, d.created_at, d.next_at, d.attempted_at, d.settled_at, d.duration_ms,
       d.status_code, d.error, d.answer, d.payload, d.tenant_id
from lanefold._webhook_delivery d join lanefold._webhook w on w.tenant_id = d.tenant_id and w.id = d.webhook_id where w.removed_at is null
union all
select w.name, e.thread_id, 'msg_' || left(encode(sha256(convert_to(w.id || ' ' || e.type || ' ' || e.key, 'UTF8')), 'hex'), 32), e.type, 'pending', 0, e.created_at, e.created_at, null, null, null, null, null, null,
       case when w.id = any (e.result_ids) then e.payload else e.payload #- '{data,result}' #- '{data,result_bytes}' end, e.tenant_id
from lanefold._webhook_event e join lanefold._webhook w on w.tenant_id = e.tenant_id and w.id = any (e.webhook_ids) where w.removed_at is null;
