import { sseResponse } from '../../base/common/sse-response.ts';
import { uiMessageHeader } from '../../runs/formats/ui-messages/answer.ts';
import type { UiChunk } from '../../runs/formats/ui-messages/message.ts';

/** The UI message stream as a response. If it breaks off, the client resumes. */
export const uiResponse = (chunks: AsyncGenerator<UiChunk>, abort: () => void): Response =>
  sseResponse(toData(chunks), { abort, headers: { [uiMessageHeader[0]]: uiMessageHeader[1] } });

async function* toData(chunks: AsyncGenerator<UiChunk>): AsyncGenerator<string> {
  for await (const chunk of chunks) yield JSON.stringify(chunk);
  yield '[DONE]';
}
