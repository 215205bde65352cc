import type { ComponentChildren } from 'preact';
import { Problem } from '../api/client.ts';
import type { RunStatus } from '../api/types.ts';
import { ago, fullTime } from './format.ts';

const tones: Record<string, string> = {
  running: 'busy',
  queued: 'busy',
  waiting: 'idle',
  suspended: 'wait',
  completed: 'good',
  failed: 'bad',
  cancelled: 'idle',
};

const words: Record<string, string> = { suspended: 'needs approval' };

export const statusWord = (status: string): string => words[status] ?? status;

/** A status in words. A run that completed without an answer says so: a limit has ended it. */
export const Status = ({ status, answered }: { status: RunStatus | null; answered?: boolean | null | undefined }) =>
  status === null ? (
    <span class="status idle">no runs</span>
  ) : status === 'completed' && answered === false ? (
    <span class="status wait">no answer</span>
  ) : (
    <span class={`status ${tones[status]}`}>{statusWord(status)}</span>
  );

interface Ended {
  status: RunStatus;
  answered: boolean | null;
  termination_reason: string | null;
  error: { type: string } | null;
  limited_by?: { limit?: string; circuit?: string } | null;
}

/** The status of a run, and why it failed or has no answer. */
export function RunStatusWords({ run }: { run: Ended }) {
  const { status, answered, error, termination_reason: reason, limited_by: limited } = run;
  return (
    <>
      <Status status={status} answered={answered} />
      {status === 'queued' && limited && <span class="why muted">{limited.circuit ?? `limit ${limited.limit}`}</span>}
      {status === 'failed' && error && <span class="why">{error.type}</span>}
      {status === 'completed' && answered === false && reason && (
        <span class="why muted">{reason.replaceAll('_', ' ')}</span>
      )}
    </>
  );
}

export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={fullTime(at)}>
    {ago(at)}
  </time>
);

/** A short label; `bad` marks a failure. */
export const Tag = ({
  children,
  title,
  bad = false,
}: {
  children: ComponentChildren;
  title?: string;
  bad?: boolean;
}) => (
  <span class={bad ? 'tag bad' : 'tag'} {...(title ? { title } : {})}>
    {children}
  </span>
);

/** An error, and what to do about it. */
export const Failure = ({ error }: { error: Error | undefined }) =>
  error === undefined ? null : (
    <div class="failure" role="alert">
      <strong>{error.message}</strong>
      {error instanceof Problem && (
        <>
          {error.hint && <span> {error.hint}</span>} <code>{error.code}</code>
        </>
      )}
    </div>
  );

export const Facts = ({ items }: { items: [string, ComponentChildren][] }) => (
  <dl class="facts">
    {items
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;

export const Loading = () => (
  <p class="empty" role="status">
    Loading…
  </p>
);
