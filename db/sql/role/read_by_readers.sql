-- The relations that readers may read: all public ones but those of the operator; with p_private, also what their views
-- read, directly or through one another.
create or replace function lanefold._read_by_readers(p_private boolean)
returns setof oid language sql stable as $$
  with recursive read as (
    select c.oid from pg_class c
    where c.relnamespace = 'lanefold'::regnamespace and c.relkind in ('r', 'p', 'v') and c.relname !~ '^_' and c.relname not in ('api_key', 'audit')
    union
    select d.refobjid from read
    join pg_rewrite w on w.ev_class = read.oid
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
    where p_private
  )
  select oid from read
$$;
