import type { ModelCall } from '../../api/types.ts';
import { href } from '../../state/route.ts';
import { causes } from '../marks/words.ts';

/** Where the prefix shared with the previous call, and thus the provider's cache, ends, and why. */
export function PrefixBreak({ call: { thread_id: threadId, prefix_break: broken } }: { call: ModelCall }) {
  if (broken === null) return null;
  const cause = causes[broken.cause];
  return (
    <div class="notice">
      Cache missed from message {broken.position + 1} on, where this call differs from the previous one:{' '}
      {broken.cause === 'policy' ? (
        cause
      ) : (
        <a href={href('threads', threadId, { at: String(broken.seq) })}>
          {cause} at entry #{broken.seq}
        </a>
      )}
      .
    </div>
  );
}
