/** Version and runtime of this program, for `/metrics`, hellos and the OpenAPI document. */
export const release = { version: '0.2.0', runtime: `node ${process.versions.node}` } as const;
