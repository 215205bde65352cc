import type { RunSnapshot } from '../../api/types.ts';
import { Time } from '../../parts/basics.tsx';
import { fullTime } from '../../parts/format.ts';
import { href } from '../../state/route.ts';

/** Says which limit keeps a run from going on. */
export const LimitWait = ({ waiting }: { waiting: RunSnapshot['waiting_for'] }) =>
  waiting && (
    <p class="notice" role="status">
      Waits for the limit <a href={href('limits')}>{waiting.limit}</a>
      {waiting.key && ` (${waiting.key})`} since <Time at={waiting.since} />
      {waiting.until && `, at least until ${fullTime(waiting.until)}`}.
    </p>
  );
