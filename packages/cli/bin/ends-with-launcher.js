/**
 * Loaded in front of the sources by `carillon.js` in a clone, where the launcher and the command are two processes:
 * `kill -9` of the launcher kills the command too, as it does where both are one. The launcher holds the other end of
 * the IPC channel; a process without one, or a process that another program starts, goes on.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// The channel does not keep a command alive that is done.
process.channel?.unref();
