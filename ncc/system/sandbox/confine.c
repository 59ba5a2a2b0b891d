/* Runs a command with limits and, if Linux has Landlock, without access to files other than the named ones.

   _confine [OPTION VALUE]... -- COMMAND ARGUMENT...
     --memory BYTES    maximum address space
     --file BYTES      maximum size of a file that it writes
     --parent PID      end with this process, which must be the one that started the launcher
     --read PATH, --execute PATH      may be repeated
   _confine --abi      prints this system's version of Landlock, 0 for none

   Missing paths are skipped; a folder includes everything below it. Execution implies reading; no file can be written.
   If the command can't be started, the exit code is 125, with "_confine: exec ERRNO" on standard error; after other
   failures it is 125, with a reason.

   Landlock's constants are defined here, since headers of older systems lack them. */

#define _GNU_SOURCE /* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAILED 125

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 }; /* the same on every architecture */
enum { RULE_PATH_BENEATH = 1, CREATE_RULESET_VERSION = 1 };

#define EXECUTE (1ULL << 0)
#define READ_FILE (1ULL << 2)
#define READ_DIR (1ULL << 3)

/* Rights that apply to files other than folders. */
#define OF_FILES (EXECUTE | READ_FILE)

/* Number of rights on files in each version: refer came with the second, truncate the third, ioctl the fifth. */
static const int NUM_FILE_RIGHTS[] = {0, 13, 14, 15, 15, 16};
#define NEWEST_FILE_RIGHTS 5
#define TCP_SINCE 4
#define TCP_RIGHTS 3ULL /* bind, connect */
#define SCOPES_SINCE 6
#define SCOPES 3ULL /* abstract sockets, signals */

struct ruleset {
    uint64_t files, network, scopes;
};

struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

static void fail(const char *what, const char *name) {
    fprintf(stderr, "_confine: %s%s%s\n", what, name ? " " : "", name ? name : "");
    exit(FAILED);
}

static void fail_with_errno(const char *what) { fail(what, strerror(errno)); }

static int landlock_version(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int)version; /* an old kernel, disabled, or forbidden by a container */
}

static void limit(int resource, rlim_t most) {
    struct rlimit now;
    if (getrlimit(resource, &now)) fail_with_errno("getrlimit:");
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
    struct rlimit wanted = {most, most};
    if (setrlimit(resource, &wanted)) fail_with_errno("setrlimit:");
}

static rlim_t bytes(const char *text) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || *end) fail("not a number of bytes:", text);
    return (rlim_t)number;
}

/* Killed when the parent's thread ends, so that a hanging compiler does not outlive a killed ncc. */
static void end_with(const char *parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) fail_with_errno("prctl:");
    if (getppid() != (pid_t)strtol(parent, NULL, 10)) exit(FAILED); /* the parent is already dead */
}

static void allow(int ruleset, const char *path, uint64_t rights, uint64_t handled) {
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file < 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP || errno == ENAMETOOLONG) return;
        fail("can't open", path);
    }
    struct stat about;
    if (fstat(file, &about)) fail("can't look at", path);
    if (!S_ISDIR(about.st_mode)) rights &= OF_FILES;
    struct path_rule rule = {rights & handled, file};
    if (syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0)) fail("can't allow", path);
    close(file);
}

static uint64_t rights_of(const char *option) {
    if (!strcmp(option, "--read")) return READ_FILE | READ_DIR;
    if (!strcmp(option, "--execute")) return READ_FILE | READ_DIR | EXECUTE;
    return 0;
}

/* Gives up all rights on files except those in the options before "--". */
static void restrict_files(int version, char **options) {
    int num_rights = NUM_FILE_RIGHTS[version < NEWEST_FILE_RIGHTS ? version : NEWEST_FILE_RIGHTS];
    struct ruleset wanted = {(1ULL << num_rights) - 1, 0, 0};
    if (version >= TCP_SINCE) wanted.network = TCP_RIGHTS;
    if (version >= SCOPES_SINCE) wanted.scopes = SCOPES;
    size_t size = version >= SCOPES_SINCE ? 24 : version >= TCP_SINCE ? 16 : 8;
    int ruleset = (int)syscall(CREATE_RULESET, &wanted, size, 0);
    if (ruleset < 0) fail_with_errno("landlock_create_ruleset:");
    for (; strcmp(*options, "--"); options += 2) {
        uint64_t rights = rights_of(options[0]);
        if (rights) allow(ruleset, options[1], rights, wanted.files);
    }
    if (syscall(RESTRICT_SELF, ruleset, 0)) fail_with_errno("landlock_restrict_self:");
    close(ruleset);
}

int main(int count, char **arguments) {
    if (count == 2 && !strcmp(arguments[1], "--abi")) {
        printf("%d\n", landlock_version());
        return 0;
    }
    char **at = arguments + 1;
    for (; *at && strcmp(*at, "--"); at += 2) {
        if (!at[1]) fail("no value for", *at);
        if (!strcmp(*at, "--memory")) limit(RLIMIT_AS, bytes(at[1]));
        else if (!strcmp(*at, "--file")) limit(RLIMIT_FSIZE, bytes(at[1]));
        else if (!strcmp(*at, "--parent")) end_with(at[1]);
        else if (!rights_of(*at)) fail("unknown option", *at);
    }
    if (!*at || !at[1]) fail("no command after --", NULL);
    limit(RLIMIT_CORE, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail_with_errno("prctl:");
    int version = landlock_version();
    if (version > 0) restrict_files(version, arguments + 1);
    execv(at[1], at + 1);
    fprintf(stderr, "_confine: exec %d\n", errno);
    return FAILED;
}
