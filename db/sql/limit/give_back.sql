-- What a call of use_limits gives back: what ended calls have left over, all that the run holds if it ends, waits, or was
-- claimed again, and its grants. What it still holds for calls then is of calls that were lost. p_places, p_limits and p_buckets are arrays with one position for each bucket. `look`:
-- {place: ms}, where other runs may now be next.
create or replace function lanefold._give_back(p_call jsonb, a lanefold._limit_account, p_places text[], p_limits lanefold._limit[],
  p_buckets lanefold._limit_bucket[], p_at timestamptz, out buckets lanefold._limit_bucket[], out account lanefold._limit_account, out look jsonb)
language plpgsql stable as $$
declare
  v_hold jsonb;
  v_place text;
  v_amount bigint;
  n int;
begin
  buckets := p_buckets;
  account := a;
  look := '{}';
  for v_place, v_amount in select key, value::bigint from jsonb_each_text(p_call -> 'drain') loop
    n := array_position(p_places, v_place);
    continue when n is null;
    buckets[n].drained_until := greatest(buckets[n].drained_until, p_at + v_amount * interval '1 ms');
    look := look || jsonb_build_object(v_place, v_amount);
  end loop;
  for v_hold in select value from jsonb_array_elements(p_call -> 'done') loop
    v_place := v_hold ->> 0;
    n := array_position(p_places, v_place);
    continue when n is null;
    -- not more than the account has: a reservation may have returned with a lease
    v_amount := least((v_hold ->> 1)::bigint, coalesce((a.holds -> v_place ->> 0)::bigint, 0));
    buckets[n] := lanefold._settle_limit(buckets[n], v_amount, (a.holds -> v_place ->> 1)::bigint, (v_hold ->> 2)::bigint, (v_hold ->> 3)::bigint,
      v_hold -> 4 = 'true' and lanefold._counts_lost(p_limits[n]));
    account.holds := lanefold._change_hold(account.holds, v_place, -v_amount, null, (v_hold ->> 3)::bigint);
    look := look || jsonb_build_object(v_place, 0);
  end loop;
  if account.holds <> '{}' and p_call ?| array['base', 'pause', 'end', 'job'] then
    for v_place, v_hold in select key, value from jsonb_each(account.holds) loop
      n := array_position(p_places, v_place);
      -- a claimed run keeps its slots; one that no worker executes has none
      continue when n is null or p_limits[n].kind = 'concurrency' and p_call ? 'base' and not p_call ? 'job';
      v_amount := coalesce((coalesce(p_call -> 'end', p_call -> 'base') ->> v_place)::bigint - (v_hold ->> 2)::bigint, 0);
      continue when v_amount = 0 and (v_hold ->> 0)::bigint = 0;
      buckets[n] := lanefold._settle_limit(buckets[n], (v_hold ->> 0)::bigint, null, (v_hold ->> 1)::bigint, v_amount,
        lanefold._counts_lost(p_limits[n]));
      account.holds := lanefold._change_hold(account.holds, v_place, -(v_hold ->> 0)::bigint, null, v_amount);
      look := look || jsonb_build_object(v_place, 0);
    end loop;
  end if;
  if account.grants is not null and p_call ?| array['take', 'pause', 'end'] then
    for v_place, v_amount in select key, value::bigint from jsonb_each_text(account.grants) loop
      n := array_position(p_places, v_place);
      continue when n is null;
      buckets[n].granted := buckets[n].granted - v_amount;
      look := look || jsonb_build_object(v_place, 0);
    end loop;
    account.grants := null;
  end if;
end $$;
