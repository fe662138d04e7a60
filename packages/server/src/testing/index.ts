/** For unit tests of applications that use Carillon: the public surface of `@carillon/server/testing`. */
export {
  type Receive,
  startTestMember,
  type TestClock,
  type TestMember,
  type TestMemberOptions,
} from './test-member.ts';
