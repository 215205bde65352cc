comment on column lanefold.alarm_count.alarm is 'the alarm';
comment on column lanefold.alarm_count.at is 'when the five minutes began; with `tenant_id` and `alarm`, the key';
comment on column lanefold.alarm_count.runs is 'the highest count of runs that matched';
comment on column lanefold.alarm_count.all_runs is 'how many runs there were then, for `share`';
comment on column lanefold.alarm_count.raised is 'whether too many runs matched';
comment on column lanefold.alarm_count.tenant_id is 'the tenant';
