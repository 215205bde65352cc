create or replace view lanefold.audit as
select no, at, tenant_id, actor, action, thread_id, run_id, detail from lanefold._audit;
