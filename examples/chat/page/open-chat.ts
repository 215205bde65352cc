import { Chat } from '@ai-sdk/react';
import {
  APICallError,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import type { AnswerMetadata } from 'lanefold/chat';

export type ChatMessage = UIMessage<AnswerMetadata>;

const api = '/api/chat';
const headers = { 'content-type': 'application/json' };

/** What was said on the branch that is shown. */
export async function readMessages(id: string): Promise<ChatMessage[]> {
  const response = await fetch(`${api}/${encodeURIComponent(id)}/messages`);
  return ((await response.json()) as { messages: ChatMessage[] }).messages;
}

/** Stops the run, or shows another branch. */
export const post = (id: string, what: 'stop' | 'show', body: object): Promise<Response> =>
  fetch(`${api}/${encodeURIComponent(id)}/${what}`, { method: 'POST', headers, body: JSON.stringify(body) });

const longestPauseMs = 5_000;

/** An answer that has not ended: more may follow, or it waits for approval. */
const isOpen = ({ metadata }: ChatMessage) =>
  metadata?.run_id !== undefined && !metadata.termination_reason && !metadata.error;

/** The connection was cut, or the server is restarting; the run continues meanwhile. */
export const isCut = (error: Error): boolean =>
  error instanceof TypeError || (APICallError.isInstance(error) && (error.statusCode ?? 0) >= 500);

/** A chat that resumes an answer whose stream was cut until it has the whole of it. */
export function openChat(id: string, history: ChatMessage[]): Chat<ChatMessage> {
  let pauseMs = 0;
  const resumeSoon = () => {
    setTimeout(() => void resume(), pauseMs);
    pauseMs = Math.min(2 * pauseMs + 250, longestPauseMs);
  };
  const resume = async () => {
    if (chat.status === 'submitted' || chat.status === 'streaming') return;
    await chat.resumeStream();
    // the server does not know the question: it was lost on its way
    if (chat.status === 'ready' && chat.lastMessage?.role === 'user') await chat.sendMessage();
  };
  const chat: Chat<ChatMessage> = new Chat<ChatMessage>({
    id,
    messages: history,
    transport: new DefaultChatTransport({
      api,
      // the server has what was said before
      prepareSendMessagesRequest: ({ messages, trigger, messageId }) => ({
        body: { id, message: messages.at(-1), trigger, messageId },
      }),
      // the answer to the last message that the page has whole, even if it has ended meanwhile
      prepareReconnectToStreamRequest: () => {
        const open = chat.messages.findIndex(isOpen);
        const whole = chat.messages.at(open === -1 ? -1 : open - 1);
        return { api: `${api}/${encodeURIComponent(id)}/stream?after=${whole?.id ?? ''}` };
      },
    }),
    // once every approval has its response, the run continues
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: (error) => {
      if (isCut(error)) resumeSoon();
    },
    onFinish: ({ message, finishReason, isAbort, isError }) => {
      if (finishReason !== undefined || message.metadata?.error) pauseMs = 0;
      // a proxy may cut a stream without an error
      else if (!isAbort && !isError) resumeSoon();
    },
  });
  return chat;
}
