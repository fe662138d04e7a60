/** One Carillon member: the public surface of this package. */
export { type Config, defaultConfig, eachOption } from './config.ts';
export {
  type ConfigEntry,
  flagOf,
  type LoadedConfig,
  loadConfig,
  variableOf,
} from './config-load.ts';
export { MembersFileError } from './cluster/members-file.ts';
export { release } from './release.ts';
export { type RunningMember, type StartOptions, startMember } from './start-member.ts';
