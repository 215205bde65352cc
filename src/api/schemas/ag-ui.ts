import '@hono/zod-openapi';
import { runAgentInput } from '../../ag-ui/input.ts';

// a schema that was made before Zod was extended has no `openapi`; its copy has
export const RunAgentInput = runAgentInput.clone().openapi('RunAgentInput', {
  description:
    '`RunAgentInput` of AG-UI 1.0, with its field names. Of `messages`, a new user message at the end is asked, and tool ' +
    'messages answer the tools that the client runs.',
  example: {
    threadId: 'support-42',
    runId: 'r-1',
    messages: [{ id: 'm-1', role: 'user', content: 'Where is my order?' }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  },
});
