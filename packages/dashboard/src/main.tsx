/** The dashboard of a member. */
import { render } from 'preact';
import { App } from './app.tsx';
import { follow } from './live.ts';
import { prepareTables } from './parts/table-cards.ts';
import { followAddress } from './route.ts';

followAddress();
follow();
const root = document.getElementById('app');
if (root !== null) {
  prepareTables(root);
  render(<App />, root);
}
