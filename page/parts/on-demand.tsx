import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './basics.tsx';

/** A view whose code is loaded when it is first shown. */
export function onDemand<Props extends object = object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function OnDemand(props: Props) {
    const [View, setView] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [error, setError] = useState<Error>();
    useEffect(() => {
      load().then((view) => setView(() => (loaded = view)), setError);
    }, []);
    if (View) return <View {...props} />;
    return error ? <Failure error={error} /> : <Loading />;
  };
}
