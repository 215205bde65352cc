import { useState, type FormEvent } from 'react';

interface Actions {
  /** What the message says now; undefined for an answer. */
  text: string | undefined;
  /** Its place among the messages that other branches have here, and a lane of each of them. */
  versions: { place: number; lanes: string[] } | undefined;
  disabled: boolean;
  select: (lane: string) => void;
  edit: (text: string) => void;
  again: () => void;
}

/** Below a message: the arrows between its versions, and what makes another one. */
export function Actions({ text, versions, disabled, select, edit, again }: Actions) {
  const [draft, setDraft] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setDraft(undefined);
    edit(draft!);
  };
  if (draft !== undefined) {
    return (
      <form onSubmit={submit}>
        <input aria-label="Edited message" value={draft} onChange={(event) => setDraft(event.target.value)} />
        <button disabled={disabled || draft.trim() === ''}>Save</button>
        <button type="button" onClick={() => setDraft(undefined)}>
          Cancel
        </button>
      </form>
    );
  }
  const { place = 1, lanes = [] } = versions ?? {};
  const arrow = (label: string, sign: string, lane: string | undefined) => (
    <button aria-label={label} disabled={disabled || lane === undefined} onClick={() => select(lane!)}>
      {sign}
    </button>
  );
  return (
    <nav>
      {versions && arrow('Version before', '‹', lanes[place - 2])}
      {versions && ` ${place}/${lanes.length} `}
      {versions && arrow('Version after', '›', lanes[place])}
      {text === undefined ? (
        <button disabled={disabled} onClick={again}>
          Answer again
        </button>
      ) : (
        <button disabled={disabled} onClick={() => setDraft(text)}>
          Edit
        </button>
      )}
    </nav>
  );
}
