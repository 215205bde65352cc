-- The private tables and views that the views of readers read, also through one another.
create or replace function lanefold._read_by_views()
returns setof oid language sql stable as $$
  with recursive read as (
    select c.oid from pg_class c
    where c.relnamespace = 'lanefold'::regnamespace and c.relkind = 'v' and c.relname !~ '^_' and c.relname not in ('api_key', 'audit')
    union
    select d.refobjid from read
    join pg_rewrite w on w.ev_class = read.oid
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
  )
  select c.oid from read join pg_class c using (oid) where c.relname ~ '^_'
$$;
