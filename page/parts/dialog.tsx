import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { Failure } from './basics.tsx';

/**
 * A button that opens a form, which is in the document only while it is open. The form closes once `onSubmit` has
 * succeeded and shows errors that it throws.
 */
export function DialogButton({
  title,
  button,
  label,
  submit,
  kind = '',
  children,
  onSubmit,
}: {
  title: string;
  button: string;
  /** Accessible name, if several buttons have the same text. */
  label?: string | undefined;
  submit: string;
  kind?: string;
  children: ComponentChildren;
  onSubmit: (fields: FormData) => Promise<void>;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = useSignal(false);
  const error = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  useLayoutEffect(() => {
    if (open.value) dialog.current!.showModal();
  }, [open.value]);
  const show = () => {
    error.value = undefined;
    open.value = true;
  };
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    busy.value = true;
    error.value = undefined;
    try {
      await onSubmit(new FormData(event.currentTarget as HTMLFormElement));
      dialog.current?.close();
    } catch (caught) {
      error.value = caught as Error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <button type="button" class={kind} aria-label={label} onClick={show}>
        {button}
      </button>
      {open.value && (
        <dialog ref={dialog} aria-label={title} onClose={() => (open.value = false)}>
          <form onSubmit={(event) => void send(event as unknown as SubmitEvent)}>
            <h2>{title}</h2>
            {children}
            <Failure error={error.value} />
            <div class="actions">
              <button type="button" onClick={() => dialog.current?.close()}>
                Close
              </button>
              <button type="submit" class="primary" disabled={busy.value}>
                {submit}
              </button>
            </div>
          </form>
        </dialog>
      )}
    </>
  );
}
