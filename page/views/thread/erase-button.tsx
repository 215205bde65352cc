import { remove, v1 } from '../../api/client.ts';
import type { ErasureReport } from '../../api/types.ts';
import { Facts } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { number } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';

/** Removes the thread for good. The user must type its id, because this cannot be undone. */
export const EraseButton = ({ state }: { state: ThreadState }) => (
  <DialogButton
    title="Erase this thread"
    button="Erase the thread"
    submit="Erase for good"
    kind="danger"
    onSubmit={async (fields) => {
      if (fields.get('id') !== state.id) throw new Error('That is not the id of this thread.');
      const report = await remove<ErasureReport>(v1('threads', state.id));
      state.close();
      state.erased.value = report;
    }}
  >
    <p>
      This removes the messages, runs, traces and jobs of the thread from the database and the queue. It cannot be
      undone.
    </p>
    <label>
      <span>
        To confirm, type the id of the thread: <code>{state.id}</code>
      </span>
      <input name="id" required autocomplete="off" spellcheck={false} />
    </label>
  </DialogButton>
);

/** What was removed, and what was not. */
export const Erased = ({ report }: { report: ErasureReport }) => (
  <article aria-labelledby="title">
    <h1 id="title">Erased: {report.thread_id}</h1>
    <Facts
      items={Object.entries(report.removed).map(([name, count]) => [
        name.replaceAll('_', ' '),
        <span class="num">{number(count)}</span>,
      ])}
    />
    <h2>Not removed</h2>
    <ul>
      {report.left.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
    <p>
      <a href={href('threads')}>All threads</a>
    </p>
  </article>
);
