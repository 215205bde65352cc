import { useSignal } from '@preact/signals';
import { DialogButton } from '../../parts/dialog.tsx';
import { Text } from '../../parts/message.tsx';
import { href } from '../../state/route.ts';
import { versionOf, type Change } from './trial.ts';

export interface KeepVersionProps {
  agent: string;
  change: Change;
  label: string;
}

/** Shows what a variant is as a version: versions are code, so the page writes the code and does not store any. */
export function KeepVersion({ agent, change, label }: KeepVersionProps) {
  const version = useSignal('');
  const code = versionOf(agent, version.value.trim() || 'new', change);
  return (
    <DialogButton
      title="Keep as a version"
      button="Keep as version"
      label={label}
      submit="Copy"
      onSubmit={async () => {
        // over plain HTTP from another host, a browser has none
        if (!('clipboard' in navigator))
          throw new Error('The browser offers no clipboard. Select the text and copy it.');
        await navigator.clipboard.writeText(code);
      }}
    >
      <label>
        <span>Label of the version</span>
        <input
          required
          maxLength={64}
          placeholder="short-prompt"
          value={version.value}
          onInput={(event) => (version.value = event.currentTarget.value)}
        />
      </label>
      <Text text={code} />
      <p>
        Put this beside the present definition of {agent} and deploy. Then roll the version out on{' '}
        <a href={href('agents')}>the page of agents</a>, to a share of the new threads first.
      </p>
    </DialogButton>
  );
}
