/** Public surface of this package. */
export const release = '0.2.0';
