import type { Entry } from '../../api/types.ts';
import { post, v1 } from '../../api/client.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import type { ThreadState } from '../../state/thread.ts';

/** Says what the reader thinks of an answer, and keeps its run as a case if the reader wants that. */
export const FeedbackButton = ({ entry, state }: { entry: Entry; state: ThreadState }) => (
  <DialogButton
    title={`Feedback on the answer #${entry.seq}`}
    button="Feedback"
    kind="link"
    label={`Feedback on the answer #${entry.seq}`}
    submit="Send"
    onSubmit={async (fields) => {
      const rating = String(fields.get('rating'));
      const comment = String(fields.get('comment')).trim();
      const said = comment === '' ? {} : { comment };
      await post(v1('threads', state.id, 'feedback'), { answer_seq: entry.seq, rating, by: 'page', ...said });
      if (fields.get('keep')) {
        await post('/v1/cases', {
          thread_id: state.id,
          run_id: entry.run_id,
          dataset: 'feedback',
          tags: [rating === 'up' ? 'liked' : 'disliked'],
          ...(comment === '' ? {} : { note: comment }),
        });
      }
      await state.refresh();
    }}
  >
    <fieldset>
      <legend>Is this a good answer?</legend>
      <label class="check">
        <input type="radio" name="rating" value="up" required /> <span>Yes</span>
      </label>
      <label class="check">
        <input type="radio" name="rating" value="down" /> <span>No</span>
      </label>
    </fieldset>
    <label>
      <span>Comment</span>
      <textarea name="comment" rows={3} maxLength={10_000} />
    </label>
    {entry.run_id && (
      <label class="check">
        <input type="checkbox" name="keep" /> <span>Keep the run as a case of the dataset “feedback”</span>
      </label>
    )}
  </DialogButton>
);
