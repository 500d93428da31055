package binaries

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// longestSums is the maximum size of a checksum file. A proxy may respond with a page of any length instead.
const longestSums = 1 << 20

// ensureReleased returns the directory with the needed programs of the set's release, and downloads those that the
// directory does not contain. After an error, the directory may contain some of them.
func (c Cache) ensureReleased(ctx context.Context, s Set, machine toolchain) (folder string, err error) {
	source := c.Source.orPublished()
	files := s.Release(source, machine.os, machine.arch)
	if len(files) != len(s.Programs) {
		return "", fmt.Errorf("%s has no release with all programs for %s/%s", s.Title, machine.os, machine.arch)
	}
	digest := sha256.New()
	for _, file := range files {
		fmt.Fprintln(digest, file.URL)
	}
	folder = filepath.Join(c.Folder, fmt.Sprintf("%s-release-%s-%s-%s", s.Version, machine.os, machine.arch,
		hex.EncodeToString(digest.Sum(nil))[:8]))
	if complete(folder, s) {
		return folder, nil
	}
	unlock, err := c.lock(ctx, folder)
	if err != nil {
		return "", err
	}
	if left := missing(folder, s); len(left) > 0 { // the previous holder of the lock did not download them
		files = slices.DeleteFunc(files, func(file File) bool {
			return !slices.ContainsFunc(left, func(program Program) bool { return program.Name == file.Name })
		})
		err = c.downloadAll(ctx, s, newDownloader(source), files, folder)
	}
	return folder, errors.Join(err, unlock())
}

// downloadAll downloads programs to a temporary directory next to `folder`, and then moves them to `folder`. After a
// failure it asks that server for nothing more, so that a dead server costs seconds. The error has the reason for each
// server.
func (c Cache) downloadAll(ctx context.Context, s Set, from *downloader, files []File, folder string) error {
	failed := map[string]error{}
	sums := map[string]string{}
	for _, file := range files {
		if failed[file.Server] == nil {
			sums[file.Name], failed[file.Server] = from.sum(ctx, file)
		}
	}
	failures := func() error { return errors.Join(slices.Collect(maps.Values(failed))...) }
	files = slices.DeleteFunc(files, func(file File) bool { return failed[file.Server] != nil })
	if len(files) == 0 {
		return failures()
	}
	staging := folder + ".partial"
	if err := errors.Join(os.RemoveAll(staging), os.MkdirAll(staging, 0o750)); err != nil {
		return fmt.Errorf("preparing %q: %w", staging, err)
	}
	defer os.RemoveAll(staging)
	fmt.Fprintf(c.Progress, "Downloading the release of %s into %s (once; about a minute, depending on the network)\n", s.Title, folder)
	start := time.Now()
	for _, file := range files {
		if failed[file.Server] == nil {
			failed[file.Server] = c.step(file.Name, func() error { return from.program(ctx, file, sums[file.Name], staging) })
		}
	}
	if err := errors.Join(move(staging, folder), failures()); err != nil {
		return err
	}
	fmt.Fprintf(c.Progress, "Downloaded in %.0f s, with verified checksums\n", time.Since(start).Seconds())
	return nil
}

// downloader reads release files.
type downloader struct {
	client *http.Client
	stall  time.Duration
}

func newDownloader(source Source) *downloader {
	dialer := &net.Dialer{Timeout: source.Connect}
	return &downloader{stall: source.Stall, client: &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: source.Connect,
		ResponseHeaderTimeout: 2 * source.Connect, ForceAttemptHTTP2: true,
	}}}
}

// get calls the function `do` with the contents of a file. It returns an error if less than one MiB arrives within the
// time limit Source.Stall.
func (d *downloader) get(ctx context.Context, url string, do func(io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("reading %s: %w", url, err)
	}
	response, err := d.client.Do(request)
	if err != nil {
		return err // with the URL
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("reading %s: %s", url, response.Status)
	}
	body := &watched{reader: response.Body, stall: d.stall}
	body.timer = time.AfterFunc(d.stall, func() {
		cancel(fmt.Errorf("received less than 1 MiB in %v", d.stall))
	})
	defer body.timer.Stop()
	if err := do(body); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("reading %s: %w", url, err)
	}
	return nil
}

// watched is a reader that restarts a timer after each MiB.
type watched struct {
	reader io.Reader
	timer  *time.Timer
	stall  time.Duration
	count  int
}

// Read reads from the underlying reader, and restarts the timer after each MiB.
func (w *watched) Read(into []byte) (int, error) {
	n, err := w.reader.Read(into)
	if w.count += n; w.count >= 1<<20 {
		w.count = 0
		w.timer.Reset(w.stall)
	}
	return n, err
}

// sumLine matches a checksum, alone or followed by the name of its file.
var sumLine = regexp.MustCompile(`^([0-9a-f]{64})(?:[ \t]+\*?(\S+))?$`)

// sum returns the published SHA-256 of a file.
func (d *downloader) sum(ctx context.Context, file File) (sum string, err error) {
	err = d.get(ctx, file.Sums, func(body io.Reader) error {
		lines := bufio.NewScanner(io.LimitReader(body, longestSums))
		for lines.Scan() {
			match := sumLine.FindStringSubmatch(strings.TrimSpace(lines.Text()))
			if match != nil && (match[2] == "" || match[2] == path.Base(file.URL)) {
				sum = match[1]
				return nil
			}
		}
		if err := lines.Err(); err != nil {
			return err
		}
		return fmt.Errorf("the file does not contain the SHA-256 of %s", path.Base(file.URL))
	})
	return sum, err
}

// program downloads a program into a folder. A file with the final name is created only after the checksum of the
// download is verified.
func (d *downloader) program(ctx context.Context, file File, sum, folder string) error {
	name := filepath.Join(folder, file.Name)
	partial := name + ".partial"
	defer os.Remove(partial)
	if err := d.get(ctx, file.URL, func(body io.Reader) error { return save(body, partial, sum) }); err != nil {
		return err
	}
	if file.Member == "" {
		return os.Rename(partial, name)
	}
	return extract(partial, file.Member, name)
}

// save writes a file and returns an error if the file's checksum is not `sum`.
func save(body io.Reader, name, sum string) error {
	digest := sha256.New()
	if err := write(io.TeeReader(body, digest), name); err != nil {
		return err
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != sum {
		return fmt.Errorf("the SHA-256 of the file is %s, but the published SHA-256 is %s", got, sum)
	}
	return nil
}

// write writes content to an executable file.
func write(content io.Reader, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755) //nolint:gosec // programs must be executable
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// extract writes a program from an archive. The caller has verified the checksum of the archive.
func extract(archive, member, name string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", member, err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", member, err)
		}
		if header.Name == member && header.Typeflag == tar.TypeReg {
			return write(files, name)
		}
	}
}
