import './state/theme.ts';
import { render } from 'preact';
import { needsKey } from './api/session.ts';
import { route } from './state/route.ts';
import { Shell, SignIn } from './views/shell.tsx';
import { view } from './views/index.tsx';

const App = () => (needsKey.value ? <SignIn /> : <Shell>{view(route.value)}</Shell>);

render(<App />, document.getElementById('app')!);
