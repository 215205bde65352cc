import type { ThreadSummary } from '../../api/types.ts';
import { Status, Time } from '../../parts/basics.tsx';
import { amount, price } from '../../parts/format.ts';
import { CountedMarks } from '../marks/marks.tsx';
import { href } from '../../state/route.ts';

export const ThreadTable = ({ threads }: { threads: ThreadSummary[] }) => (
  <table class="list">
    <thead>
      <tr>
        <th scope="col">Thread</th>
        <th scope="col">Status</th>
        <th scope="col">Agent</th>
        <th scope="col" class="num">
          Entries
        </th>
        <th scope="col" class="num">
          Runs
        </th>
        <th scope="col" class="num">
          Tokens
        </th>
        <th scope="col" class="num">
          Cost
        </th>
        <th scope="col" class="num">
          Last write
        </th>
      </tr>
    </thead>
    <tbody>
      {threads.map((thread) => (
        <tr key={thread.id}>
          <th scope="row">
            <a href={href('threads', thread.id)} class="row-link">
              <span class="preview">{thread.last_message ?? 'No message yet'}</span>
              <span class="id">{thread.id}</span>
            </a>
          </th>
          <td>
            <Status status={thread.status} />
            {thread.last_run?.error_type && <span class="why">{thread.last_run.error_type}</span>}
            <CountedMarks threadId={thread.id} marks={thread.marks} known={[thread.status === 'failed' && 'failed']} />
          </td>
          <td data-label="agent" class="clip" title={thread.last_run?.agent}>
            {thread.last_run?.agent ?? '–'}
          </td>
          <td data-label="entries" class="num">
            {amount(thread.rev)}
          </td>
          <td data-label="runs" class="num">
            {thread.runs >= 1_000 ? '1,000+' : thread.runs}
          </td>
          <td data-label="tokens" class="num">
            {amount(thread.total_tokens)}
          </td>
          <td data-label="cost" class="num">
            {price(thread)}
          </td>
          <td class="num">
            <Time at={thread.updated_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
