-- What a call of use_limits gives back: what ended calls have left over, all that the run holds if it ends, waits, or was
-- claimed again, and its grants. What it still holds for calls then is of calls that were lost.
create or replace function lanefold._give_back(p_call jsonb, w lanefold._limit_work, p_at timestamptz)
returns lanefold._limit_work language plpgsql stable as $$
declare
  a constant lanefold._limit_account := w.account;  -- as it was
  v_hold jsonb;
  v_place text;
  v_amount bigint;
  n int;
begin
  for v_place, v_amount in select key, value::bigint from jsonb_each_text(p_call -> 'drain') loop
    n := array_position(w.places, v_place);
    continue when n is null;
    w.buckets[n].drained_until := greatest(w.buckets[n].drained_until, p_at + v_amount * interval '1 ms');
    w.look := w.look || jsonb_build_object(v_place, v_amount);
  end loop;
  for v_hold in select value from jsonb_array_elements(p_call -> 'done') loop
    v_place := v_hold ->> 0;
    n := array_position(w.places, v_place);
    continue when n is null;
    -- not more than the account has: a reservation may have returned with a lease
    v_amount := least((v_hold ->> 1)::bigint, coalesce((a.holds -> v_place ->> 0)::bigint, 0));
    w.buckets[n] := lanefold._settle_limit(w.buckets[n], v_amount, (a.holds -> v_place ->> 1)::bigint, (v_hold ->> 2)::bigint, (v_hold ->> 3)::bigint,
      v_hold -> 4 = 'true' and lanefold._counts_lost(w.limits[n]));
    w.account.holds := lanefold._change_hold((w.account).holds, v_place, -v_amount, null, (v_hold ->> 3)::bigint);
    w.look := w.look || jsonb_build_object(v_place, 0);
  end loop;
  if (w.account).holds <> '{}' and p_call ?| array['base', 'pause', 'end', 'job'] then
    for v_place, v_hold in select key, value from jsonb_each((w.account).holds) loop
      n := array_position(w.places, v_place);
      -- a claimed run keeps its slots; one that no worker executes has none
      continue when n is null or w.limits[n].kind = 'concurrency' and p_call ? 'base' and not p_call ? 'job';
      v_amount := coalesce((coalesce(p_call -> 'end', p_call -> 'base') ->> v_place)::bigint - (v_hold ->> 2)::bigint, 0);
      continue when v_amount = 0 and (v_hold ->> 0)::bigint = 0;
      w.buckets[n] := lanefold._settle_limit(w.buckets[n], (v_hold ->> 0)::bigint, null, (v_hold ->> 1)::bigint, v_amount,
        lanefold._counts_lost(w.limits[n]));
      w.account.holds := lanefold._change_hold((w.account).holds, v_place, -(v_hold ->> 0)::bigint, null, v_amount);
      w.look := w.look || jsonb_build_object(v_place, 0);
    end loop;
  end if;
  if (w.account).grants is not null and p_call ?| array['take', 'pause', 'end'] then
    for v_place, v_amount in select key, value::bigint from jsonb_each_text((w.account).grants) loop
      n := array_position(w.places, v_place);
      continue when n is null;
      w.buckets[n].granted := w.buckets[n].granted - v_amount;
      w.look := w.look || jsonb_build_object(v_place, 0);
    end loop;
    w.account.grants := null;
  end if;
  return w;
end $$;
