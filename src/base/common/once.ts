/** Does it again until it has succeeded once. */
export function once(act: () => Promise<void>): () => Promise<void> {
  let done = false;
  return async () => {
    if (done) return;
    await act();
    done = true;
  };
}
