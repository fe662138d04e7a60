/** The page at /docs. */
import { render } from 'preact';
import { Page } from './page.tsx';

const root = document.getElementById('app');
if (root !== null) render(<Page />, root);
