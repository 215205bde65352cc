-- The circuits of models. The view adds up both halves of the window.
create or replace view lanefold.circuit as
select c.model, c.state, c.ok + c.ok_before + c.failed + c.failed_before as calls, c.failed + c.failed_before as failed, c.reason,
       c.opened_at, c.open_until, c.opened_by, c.probe_until, c.turns, c.updated_at
from lanefold._circuit c;
