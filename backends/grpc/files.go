package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/regular"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// definitions that descriptor sets and servers may leave out
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
)

// maxProto bounds a .proto file or a descriptor set, in bytes.
const maxProto = 64 << 20

// compile reads the definitions of a service.
func compile(p *backends.Protos) (*protoregistry.Files, error) {
	if p.DescriptorSet != "" {
		return readSet(p.DescriptorSet)
	}
	var names []string
	folders := p.Include
	for _, file := range p.Files {
		name := relative(file, p.Include)
		if name == "" { // its folder is one that imports are looked up in, as the last one
			name = filepath.Base(file)
			folders = append(folders[:len(folders):len(folders)], filepath.Dir(file))
		}
		names = append(names, name)
	}
	compiler := protocompile.Compiler{
		MaxParallelism: 1,
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: folders,
			Accessor:    func(path string) (io.ReadCloser, error) { return regular.Open(path, maxProto) },
		}),
	}
	compiled, err := compiler.Compile(context.Background(), names...)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, protoregistry.NotFound) {
		return nil, fmt.Errorf("%w; imports are looked up in the folders of `include`, "+
			"and in those of the files", err)
	}
	if err != nil {
		return nil, err
	}
	files := new(protoregistry.Files)
	for _, f := range compiled {
		if err := register(files, f); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// relative returns the name of a file in one of the folders, as others import it; "": it is in none.
func relative(file string, folders []string) string {
	for _, folder := range folders {
		name, err := filepath.Rel(folder, file)
		if err == nil && name != ".." && !strings.HasPrefix(name, ".."+string(os.PathSeparator)) {
			return filepath.ToSlash(name)
		}
	}
	return ""
}

// register adds a file and all that it imports.
func register(files *protoregistry.Files, f protoreflect.FileDescriptor) error {
	if _, err := files.FindFileByPath(f.Path()); err == nil {
		return nil
	}
	imports := f.Imports()
	for i := range imports.Len() {
		if err := register(files, imports.Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return files.RegisterFile(f)
}

// readSet reads a descriptor set, as `protoc --descriptor_set_out` writes it.
func readSet(name string) (*protoregistry.Files, error) {
	data, err := regular.Read(name, maxProto)
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil || len(set.File) == 0 {
		return nil, fmt.Errorf("%s is no descriptor set: make one with protoc --include_imports "+
			"--descriptor_set_out=FILE", filepath.Base(name))
	}
	l := newLinker(func(missing string) (*descriptorpb.FileDescriptorProto, error) {
		return nil, fmt.Errorf("%s lacks %s, which it imports: make it with protoc --include_imports",
			filepath.Base(name), missing)
	})
	l.give(set.File)
	for _, f := range set.File {
		if err := l.add(f.GetName()); err != nil {
			return nil, err
		}
	}
	return l.files, nil
}

// linker makes descriptors of files, imports first.
type linker struct {
	files *protoregistry.Files
	given map[string]*descriptorpb.FileDescriptorProto
	fetch func(name string) (*descriptorpb.FileDescriptorProto, error) // a file that is not given
	busy  map[string]bool                                              // files that import this one
}

func newLinker(fetch func(string) (*descriptorpb.FileDescriptorProto, error)) *linker {
	return &linker{
		files: new(protoregistry.Files), fetch: fetch, busy: map[string]bool{},
		given: map[string]*descriptorpb.FileDescriptorProto{},
	}
}

// give keeps files for their names; of several with one name the first counts.
func (l *linker) give(files []*descriptorpb.FileDescriptorProto) {
	for _, f := range files {
		if l.given[f.GetName()] == nil {
			l.given[f.GetName()] = f
		}
	}
}

// add adds a file and all that it imports.
func (l *linker) add(name string) error {
	if _, err := l.files.FindFileByPath(name); err == nil {
		return nil
	}
	if l.busy[name] {
		return fmt.Errorf("%s imports itself", name)
	}
	l.busy[name] = true
	f := l.given[name]
	if f == nil {
		if known, err := protoregistry.GlobalFiles.FindFileByPath(name); err == nil &&
			strings.HasPrefix(name, "google/protobuf/") {
			return register(l.files, known)
		}
		var err error
		if f, err = l.fetch(name); err != nil {
			return err
		}
	}
	for _, other := range f.GetDependency() {
		if err := l.add(other); err != nil {
			return err
		}
	}
	made, err := protodesc.NewFile(f, l.files)
	if err != nil {
		return plain(err)
	}
	return l.files.RegisterFile(made)
}
