import type { Client } from 'lanefold/client';
import { useApprovals } from 'lanefold/react';

export function Approvals({ client, threadId }: { client: Client; threadId: string }) {
  const { approvals, approve, deny } = useApprovals(client, { threadId });
  return approvals.map((approval) => (
    <fieldset key={`${approval.runId} ${approval.call}`}>
      <legend>May I?</legend>
      <p>
        {approval.name}({JSON.stringify(approval.arguments)})
      </p>
      <button onClick={() => void approve(approval)}>Approve</button>{' '}
      <button onClick={() => void deny(approval, { reason: 'The customer said no.' })}>Deny</button>
    </fieldset>
  ));
}
